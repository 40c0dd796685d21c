"""MIND and xMIND to a corpus folder (protocol §1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.archives import Counted, OnProgress, list_raw
from newsrec.corpus.behaviors import Behaviors, read_behaviors
from newsrec.corpus.catalogue import Catalogue
from newsrec.corpus.folder import Corpus, write_corpus
from newsrec.corpus.foreign import refuse_foreign
from newsrec.corpus.ids import IdIndex
from newsrec.corpus.layout import BARE, Layout, find_layout
from newsrec.corpus.mind_news import add_news
from newsrec.corpus.report import (
    PAPER_004,
    Report,
    count_languages,
    count_split,
    ever_shown,
    future_notes,
)
from newsrec.corpus.splits import (
    MIND_VALID_FROM,
    NEWSRECLIB_HISTORY,
    PROTOCOLS,
    cut_at,
    drop_cold,
    first_shown,
    oldest_clicks,
    renumber,
)
from newsrec.corpus.xmind import add_xmind
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.languages import canonical
from newsrec.types import Impressions

#: Impressions of MINDsmall train and dev, with which paper 004's counts can be compared.
_MIND_SMALL = {"train": 156_965, "dev": 73_152}


@dataclass(frozen=True, slots=True)
class MindOptions:
    """How MIND is read.

    ``protocol``: ``newsrec`` keeps readers without history and whole histories; ``newsreclib``
    drops such impressions where labelled (test included) and keeps the oldest 50 clicks.
    ``valid_from`` cuts MIND train (None: not at all). ``max_missing``: the largest share of the
    distinct ids in behaviors that may have no text in any file; half by default, for beyond that
    the files hardly belong together. ``first_shown``: the time an article was first a candidate
    stands for its time of publication, which MIND does not tell.
    """

    split: str = "test"
    protocol: str = "newsrec"
    valid_from: np.datetime64 | None = MIND_VALID_FROM
    max_missing: float = 0.5
    language: str = "eng"
    size: str | None = None
    keep_first: bool = False
    first_shown: bool = True
    news_only: bool = False

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise unknown_name("protocol", self.protocol, PROTOCOLS)
        if not 0 <= self.max_missing <= 1:
            raise ConfigError(f"max_missing {self.max_missing}, expected a share from 0 to 1")
        if self.size not in (None, "small", "large", "demo"):
            raise unknown_name("size", str(self.size), ("small", "large", "demo"))


def prepare_mind(
    raw: Path,
    folder: Path,
    options: MindOptions | None = None,
    *,
    made_by: str = "",
    on_progress: OnProgress | None = None,
) -> tuple[Corpus, Report]:
    """Read MIND's and xMIND's files below ``raw`` and write the corpus ``folder``.

    ``on_progress(done, total)`` counts the bytes of behaviors that were read. Raises `DataError`
    with file and line for input that is not as MIND states it.
    """
    options = options or MindOptions()
    refuse_foreign(folder)
    layout = _layout(raw, options)
    catalogue = _gather(layout, options)
    index = IdIndex.build(catalogue.ids())
    logs = _logs(layout, index, on_progress)
    users, parts = _on_one_numbering(catalogue, logs, index.n_ids)
    _refuse_missing(catalogue, parts.values(), options.max_missing, raw)
    splits, dropped = _splits(parts, options)
    news = catalogue.table()
    if options.first_shown:
        news = replace(news, published=first_shown(list(parts.values()), len(news)))
    report = _report(folder.name, catalogue, splits, dropped, parts, users)
    corpus = write_corpus(
        folder,
        name=report.name,
        news=news,
        users=users,
        texts=(catalogue.texts(language) for language in catalogue.told),
        splits=splits,
        info=_info(options, report, layout),
        made_by=made_by,
    )
    return corpus, report


def _layout(raw: Path, options: MindOptions) -> Layout:
    layout = find_layout(list_raw(raw), str(raw), options.size)
    if not layout.translations and not any(part.news for part in layout.sets.values()):
        raise DataError(
            f"{raw}: no news.tsv and no xMIND file, expected MIND's folders (MINDsmall_train/ …, "
            "train/ dev/ test/, or news.tsv behaviors.tsv), also as .tsv.gz or .zip"
        )
    if not options.news_only and not any(part.behaviors for part in layout.sets.values()):
        raise DataError(f"{raw}: no behaviors.tsv; pass --news-only to prepare news without clicks")
    if options.news_only:
        for part in layout.sets.values():
            part.behaviors = None
    return layout


def _gather(layout: Layout, options: MindOptions) -> Catalogue:
    catalogue = Catalogue(keep_first=options.keep_first)
    for part in layout.sets.values():
        if part.news is not None:
            add_news(catalogue, part.news, canonical(options.language))
    for language, files in layout.translations.items():
        for file in files:
            add_xmind(catalogue, file, language)
    return catalogue


def _logs(layout: Layout, index: IdIndex, on_progress: OnProgress | None) -> dict[str, Behaviors]:
    files = {role: part.behaviors for role, part in layout.sets.items() if part.behaviors}
    total = sum(file.size for file in files.values())
    done, logs = 0, {}
    for role, file in files.items():
        with file.open() as stream:
            counted = Counted(stream, total, on_progress, done)
            logs[role] = read_behaviors(counted, index, file.shown)
            done = counted.done
    return logs


def _on_one_numbering(
    catalogue: Catalogue, logs: dict[str, Behaviors], n_known: int
) -> tuple[NDArray[np.str_], dict[str, Impressions]]:
    """Readers ``(n_users,)`` and impressions by role; ids that no news file has become rows
    without text, sorted, whatever file they came from."""
    unknown = sorted({name for log in logs.values() for name in log.unknown.tolist()})
    for name in unknown:
        catalogue.row(name)
    known_users: dict[str, int] = {}
    parts = {}
    for role, log in logs.items():
        user_of = [known_users.setdefault(u, len(known_users)) for u in log.users.tolist()]
        news_of = None
        if len(log.unknown):
            added = np.searchsorted(np.array(unknown), log.unknown) + n_known
            news_of = np.concatenate([np.arange(n_known), added]).astype(np.int32)
        parts[role] = renumber(log.impressions, np.array(user_of, np.int32), news_of)
    return np.array(list(known_users), np.str_), parts


def _refuse_missing(
    catalogue: Catalogue, parts: Iterable[Impressions], max_missing: float, raw: Path
) -> None:
    used, texted = _used(catalogue, parts), _has_text(catalogue)
    missing, n = int(np.count_nonzero(used & ~texted)), int(np.count_nonzero(used))
    if n and missing / n > max_missing:
        example = catalogue.ids()[int(np.argmax(used & ~texted))]
        raise DataError(
            f"{raw}: {missing:,} of {n:,} ids in behaviors ({missing / n:.1%}) have no text in any "
            f"news file, for example {example!r}; expected at most {max_missing:.0%}. "
            "Are news and behaviors of the same set? --max-missing raises the limit"
        )


def _used(catalogue: Catalogue, parts: Iterable[Impressions]) -> NDArray[np.bool_]:
    used = np.zeros(len(catalogue), np.bool_)
    for part in parts:
        used[part.candidates.values] = True
        used[part.history.values] = True
    return used


def _has_text(catalogue: Catalogue) -> NDArray[np.bool_]:
    texted = np.zeros(len(catalogue), np.bool_)
    for language in catalogue.told:
        texted |= catalogue.present(language)
    return texted


def _splits(
    parts: dict[str, Impressions], options: MindOptions
) -> tuple[dict[str, Impressions], dict[str, int]]:
    """Splits by name: train and valid (cut from MIND train), test (MIND dev), unlabelled (MIND
    test), or the one named by the caller; and what the protocol dropped."""
    splits: dict[str, Impressions] = {}
    if "train" in parts:
        # Nothing is later than NaT, so that without a cut all is train.
        cut = np.datetime64("NaT") if options.valid_from is None else options.valid_from
        for name, rows in zip(("train", "valid"), cut_at(parts["train"], cut), strict=True):
            if len(rows):
                splits[name] = parts["train"].take(rows)
    for role, impressions in parts.items():
        if role == "train":
            continue
        name = options.split if role == BARE else "test"
        if role == "test" and impressions.clicked is None:
            name = "unlabelled"
        elif role == "test" and "dev" in parts:
            name = "heldout"
        if name in splits:
            raise DataError(f"two sets for the split {name!r}; name the bare files' with --split")
        splits[name] = impressions
    dropped = 0
    if options.protocol == "newsreclib":
        for name, impressions in splits.items():
            kept, gone = impressions, 0
            if impressions.clicked is not None:
                kept, gone = drop_cold(impressions)
            splits[name] = oldest_clicks(kept)
            dropped += gone
    return splits, {"impressions of readers without a history (newsreclib)": dropped}


def _report(
    name: str,
    catalogue: Catalogue,
    splits: dict[str, Impressions],
    dropped: dict[str, int],
    parts: dict[str, Impressions],
    users: NDArray[np.str_],
) -> Report:
    used, texted = _used(catalogue, parts.values()), _has_text(catalogue)
    notes = []
    if missing := int(np.count_nonzero(used & ~texted)):
        share = missing / int(np.count_nonzero(used))
        notes.append(
            f"{missing:,} ids in behaviors ({share:.1%} of those there) have no text in any file; "
            "they are kept as rows without text and dropped where a shelf is shown"
        )
    if catalogue.repeated:
        notes.append(
            f"{catalogue.repeated:,} articles came more than once, {catalogue.conflicting:,} of "
            "them with another text (the first was kept)"
        )
    for part in parts.values():
        notes += future_notes(np.array([], "datetime64[s]"), part.time)
    shelves = [(language, catalogue.present(language)) for language in catalogue.told]
    is_small = {role: len(part) for role, part in parts.items() if role != "test"} == _MIND_SMALL
    return Report(
        name=name,
        news=len(catalogue),
        readers=len(users),
        languages=count_languages(shelves, ever_shown(splits, len(catalogue))),
        splits=tuple(count_split(name, impressions) for name, impressions in splits.items()),
        dropped=dropped,
        notes=tuple(notes),
        paper_004=PAPER_004 if is_small else {},
    )


def _info(options: MindOptions, report: Report, layout: Layout) -> dict[str, Any]:
    newsreclib = options.protocol == "newsreclib"
    cut = None if options.valid_from is None else str(options.valid_from)
    return {
        "source": "MIND",
        "protocol": options.protocol,
        "history": f"oldest {NEWSRECLIB_HISTORY}" if newsreclib else "whole",
        "cold_readers": "dropped where labelled" if newsreclib else "kept",
        "valid_from": cut,
        "published": "first shown" if options.first_shown else "unknown",
        "options": asdict(options) | {"valid_from": cut},
        "files": [
            file.shown
            for part in layout.sets.values()
            for file in (part.news, part.behaviors)
            if file is not None
        ]
        + [file.shown for files in layout.translations.values() for file in files],
        "counts": report.to_dict(),
    }
