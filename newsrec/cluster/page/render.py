"""A `View` as one file of HTML: no request, no script but its own."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib.resources import files
from pathlib import Path

from newsrec.cluster.view import View
from newsrec.files import atomic_file

# In the order in which they run; together they are one module.
_SCRIPTS = ("data", "text", "layout", "map", "time", "panel", "search", "main")
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_page(path: Path, view: View, *, title: str = "News by theme, topic and story") -> None:
    """Write ``view`` to ``path`` as a page that opens from disk, without a network.

    It may be as large as the view and about 50 kB. A kill leaves the old file or the new one.
    """
    with atomic_file(path) as file:
        file.write(page(view, title=title).encode("utf-8", "replace"))


def page(view: View, *, title: str) -> str:
    """The HTML. Its Content-Security-Policy allows the inline style and script by their hashes and
    nothing else; text of articles only ever stands inside JSON."""
    style = _part("page.css")
    script = "".join(_part("script", f"{name}.js") for name in _SCRIPTS)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "script": script,
        "view": view.to_json(),
    }
    # One pass, so that a title or an article that looks like a place is not filled in.
    return _PLACE.sub(lambda found: parts[found[1]], _part("page.html"))


def _part(*names: str) -> str:
    return files(__package__).joinpath(*names).read_text("utf-8")


def _hash(text: str) -> str:
    """What the policy calls an inline part: its SHA-256 (CSP level 2, §4.2.4)."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
