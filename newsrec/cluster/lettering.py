"""Which installed font has the letters of a text, and how much of it a place has room for."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

from newsrec.cluster.treemap import Box
from newsrec.cluster.view import Node, View

# matplotlib's own font first, so that figures look alike wherever it has the letters.
_FIRST = ("DejaVu Sans", "Noto Sans")
# Blocks whose letters join, move or reorder: without shaping they cannot be read.
_SHAPED = ((0x0590, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F), (0x1780, 0x17FF), (0xFB1D, 0xFEFC))
_LONGEST = 60
# Letters of 8 points are about this wide and high, in inches.
_LETTER, _LINE = 0.069, 0.15
_NOT_DRAWN = ("So", "Cc", "Cf", "Co", "Cn", "Cs")


class Names:
    """Labels as far as fonts go; counts those that had to be something else."""

    def __init__(self, view: View) -> None:
        self._view, self._replaced = view, 0

    def of(self, node: Node) -> dict[str, Any]:
        """What matplotlib's text functions take."""
        text, found, named = label(node, self._view.levels[node.level])
        self._replaced += not named
        return {"s": text, "fontfamily": found, "parse_math": False}

    def note(self, figure: Any) -> None:
        """Say under the figure how many names no font could write."""
        if self._replaced:
            names = "name is" if self._replaced == 1 else "names are"
            figure.supxlabel(
                f"{self._replaced} {names} in letters that no installed font has; "
                "keywords, a headline or a number stand instead",
                fontsize=7, color="#555555",
            )  # fmt: skip


def label(node: Node, level: str) -> tuple[str, list[str], bool]:
    """``(text, font families, named)`` for a cluster: its name where an installed font has the
    letters; else its keywords or a headline that can be drawn; else ``level`` and its number, and
    ``named`` is False."""
    words = [word for word in map(drawable, node.keywords) if word and families(word)]
    headlines = [title for article in node.headlines for _, title in article.texts]
    for text in (node.name, ", ".join(words[:3]), *headlines):
        text = drawable(text)
        found = families(text)
        if text and found:
            return short(text), found, text == drawable(node.name)
    return f"{level} {node.cluster}", list(_FIRST[:1]), False


def short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def drawable(text: str) -> str:
    """``text`` without emoji, pictures and invisible characters that no text font has."""
    return "".join(c for c in text if unicodedata.category(c) not in _NOT_DRAWN).strip()


@cache
def families(text: str) -> list[str] | None:
    """Names of installed fonts that together have every letter of ``text``, to be given to
    matplotlib in this order, its own font last; None where a letter is missing, or would have to
    be shaped and this matplotlib cannot (below 3.11)."""
    if not _shapes() and any(low <= ord(c) <= high for c in text for low, high in _SHAPED):
        return None
    missing = {ord(c) for c in text} - _letters_of(_FIRST[0])
    found: list[str] = []
    for again in (False, True):
        fonts = _fonts(again) if missing else []
        while missing:
            # The one font that has most of them: a line in several fonts reads badly.
            has, name = max(((_letters(path) & missing, name) for name, path in fonts),
                            key=lambda pair: len(pair[0]))  # fmt: skip
            if not has:
                break
            found.append(name)
            missing -= has
    return None if missing else [*found, _FIRST[0]]


def _shapes() -> bool:
    from matplotlib import ft2font

    return hasattr(ft2font, "__libraqm_version__")


@cache
def _fonts(again: bool) -> list[tuple[str, str]]:
    """``(family, file)`` of every upright font of normal weight; ``again``: also those installed
    since matplotlib last looked."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    if again:
        known = {entry.fname for entry in manager.ttflist}
        for path in sorted(set(font_manager.findSystemFonts()) - known):
            try:
                manager.addfont(path)
            except (OSError, RuntimeError, ValueError):
                continue
    chosen: dict[str, str] = {}
    for entry in manager.ttflist:
        upright = entry.style == "normal" and entry.weight in (400, "normal", "regular", "book")
        if upright and "Emoji" not in entry.name and "Last Resort" not in entry.name:
            chosen.setdefault(entry.name, entry.fname)
    ranked = sorted(chosen, key=lambda name: (_rank(name), name))
    return [(name, chosen[name]) for name in ranked]


def _rank(name: str) -> int:
    if name in _FIRST:
        return _FIRST.index(name)
    return 2 if "Sans" in name else 3


def _letters_of(name: str) -> frozenset[int]:
    return next((_letters(path) for family, path in _fonts(False) if family == name), frozenset())


@cache
def _letters(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    try:
        font: Any = FT2Font(path)
        return frozenset(font.get_charmap())
    except (OSError, RuntimeError):
        return frozenset()


def write(
    axes: Any, box: Box, text: dict[str, Any], size: float, note: str = "", weight: str = "normal"
) -> float:
    """As much of a label as the place has room for, line by line; how high it is, in inches."""
    from matplotlib.patches import Rectangle

    x, y, w, h = box
    wide = (2 if is_wide(text["s"]) else 1) * (1.22 if weight == "bold" else 1)
    for smaller in (size, 0.85 * size, 0.72 * size):
        letter, line = _LETTER * smaller / 8, _LINE * smaller / 8
        columns, rows = int((w - 0.12) / letter / wide), int((h - 0.04) / line)
        longest = max((len(word) for word in text["s"].split()), default=0)
        if longest <= columns:
            break
    if note and columns >= len(text["s"]) + len(note) + 2:
        axes.text(x + w - 0.06, y + 0.06, note, size=size - 2, color="white", ha="right", va="top")
    if columns < 4 or rows < 1:
        return 0.0
    lines = _wrapped(text["s"], columns)
    if len(lines) > rows:
        lines = lines[:rows]
        lines[-1] = lines[-1][: columns - 1].rstrip() + "…"
    drawn = axes.text(
        x + 0.06, y + 0.05, "\n".join(lines), size=smaller, color="white", va="top",
        weight=weight, **{key: value for key, value in text.items() if key != "s"},
    )  # fmt: skip
    drawn.set_clip_path(Rectangle((x, y), w, h, transform=axes.transData))
    return 0.05 + line * len(lines)


def is_wide(text: str) -> bool:
    return any(0x1100 <= ord(c) <= 0x11FF or 0x2E80 <= ord(c) <= 0xFFEF for c in text)


def _wrapped(text: str, columns: int) -> list[str]:
    from textwrap import wrap

    # A word that does not fit is cut: broken in two it reads as two.
    words = [
        " ".join(w if len(w) <= columns or is_wide(w) else f"{w[: columns - 1]}…" for w in part)
        for part in map(str.split, text.split("\n"))
    ]
    return [line for part in words for line in wrap(part, columns)]
