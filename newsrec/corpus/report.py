"""What was found in raw data, as data; `lines` says it for people."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec import languages
from newsrec.types import Impressions

#: Impressions with a non-empty history on MINDsmall (paper 004, section 5).
PAPER_004 = {"train": 124_229, "valid": 29_498, "test": 70_938}


@dataclass(frozen=True, slots=True)
class SplitCount:
    """One split; ``clicks`` is None where it is unlabelled, times are ISO 8601."""

    name: str
    impressions: int
    with_history: int
    readers: int
    candidates: int
    clicks: int | None
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class LanguageCount:
    """One shelf: articles with text, and which share of the articles ever shown it covers."""

    code: str
    articles: int
    shown_covered: float


@dataclass(frozen=True, slots=True)
class Report:
    """What `newsrec prepare` prints and ``corpus.json`` records."""

    name: str
    news: int
    readers: int
    languages: tuple[LanguageCount, ...]
    splits: tuple[SplitCount, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    paper_004: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain fields, ready for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """A screen of text."""
        found = [f"{self.name}: {self.news:,} news, {self.readers:,} readers"]
        found.append("languages (articles with text; share of the articles ever shown)")
        found += [
            f"  {shelf.code} {languages.name(shelf.code):<20} {shelf.articles:>9,}"
            f"  {shelf.shown_covered:7.1%}"
            for shelf in self.languages
        ]
        found.append("impressions (of readers with a history), candidates, clicks")
        found += [_split_line(split) for split in self.splits] or ["  none"]
        if self.paper_004:
            counts = {split.name: split.with_history for split in self.splits}
            found.append("impressions with a history: here / paper 004")
            found += [
                f"  {name:<11} {counts[name]:>9,} / {reported:,}"
                f"{'' if counts[name] == reported else '  differs'}"
                for name, reported in self.paper_004.items()
            ]
        found += [f"dropped: {count:,} {what}" for what, count in self.dropped.items() if count]
        found += [f"note: {note}" for note in self.notes]
        return found


def _split_line(split: SplitCount) -> str:
    clicks = "unlabelled" if split.clicks is None else f"{split.clicks:,} clicks"
    return (
        f"  {split.name:<11} {split.impressions:>9,} ({split.with_history:,}), "
        f"{split.candidates:,} candidates, {clicks}, {split.readers:,} readers, "
        f"{split.first} to {split.last}"
    )


def count_split(name: str, impressions: Impressions) -> SplitCount:
    """The line of one split."""
    clicked = impressions.clicked
    times = impressions.time
    return SplitCount(
        name=name,
        impressions=len(impressions),
        with_history=int(np.count_nonzero(impressions.history_lengths)),
        readers=len(np.unique(impressions.user)),
        candidates=len(impressions.candidates.values),
        clicks=None if clicked is None else int(np.count_nonzero(clicked)),
        first=str(times.min()) if len(times) else "",
        last=str(times.max()) if len(times) else "",
    )


def count_languages(
    shelves: Sequence[tuple[str, NDArray[np.bool_]]], shown: NDArray[np.bool_]
) -> tuple[LanguageCount, ...]:
    """Coverage of each shelf, its ``present (n_news,)`` against ``shown (n_news,)``."""
    n_shown = max(1, int(np.count_nonzero(shown)))
    return tuple(
        LanguageCount(
            code,
            int(np.count_nonzero(present)),
            round(int(np.count_nonzero(present & shown)) / n_shown, 4),
        )
        for code, present in shelves
    )


def future_notes(
    published: NDArray[np.datetime64], impressions: NDArray[np.datetime64]
) -> list[str]:
    """Notes on times more than a day after now: mistakes of a unit or a clock, most likely."""
    limit = np.datetime64(int(time.time()), "s") + np.timedelta64(1, "D")
    notes = []
    for what, times in (("articles are published", published), ("impressions are", impressions)):
        late = times[times > limit]  # NaT is not later than anything.
        if len(late):
            notes.append(
                f"{len(late):,} {what} more than a day after now (the last {late.max()}); are the "
                "times in the stated unit?"
            )
    return notes


def ever_shown(splits: Mapping[str, Impressions], n_news: int) -> NDArray[np.bool_]:
    """Which articles were a candidate in any split, ``(n_news,)``."""
    shown = np.zeros(n_news, np.bool_)
    for impressions in splits.values():
        shown[impressions.candidates.values] = True
    return shown
