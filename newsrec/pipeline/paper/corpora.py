"""The corpus of a reproduction: MIND and xMIND prepared once, or a small part of any corpus."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus, prepare_mind, write_corpus
from newsrec.corpus.report import PAPER_004
from newsrec.errors import ConfigError, DataError
from newsrec.files import write_json
from newsrec.types import Impressions, NewsTable, Ragged, Strings, Texts
from newsrec.types.shelf import count_true, keep_shown

#: Impressions of a quick run: to learn from, to stop by, to measure.
SMALL = {"train": 112, "valid": 24, "test": 48}
#: The same of the short runs whose cost is measured.
SHORT = {"train": 256, "valid": 64, "test": 1000}


def prepared(raw: Path, out: Path) -> Corpus:
    """MIND and xMIND below ``raw`` as the corpus ``out/corpus``, prepared when first asked for.

    `ConfigError` when that corpus was prepared from another folder.
    """
    folder, said = out / "corpus", out / "raw.json"
    if not raw.exists():
        raise DataError(f"--raw: {raw}: no such folder, expected MIND's and xMIND's files")
    source = str(raw.resolve())
    if said.exists() and (folder / "corpus.json").exists():
        before = json.loads(said.read_text("utf-8"))["raw"]
        if before != source:
            raise ConfigError(f"{folder} was prepared from {before}; name another --out")
        return Corpus.open(folder)
    made_by = f"newsrec prepare mind {raw} --out {folder}"
    prepare_mind(raw, folder, made_by=made_by)
    write_json(said, {"raw": source})
    return Corpus.open(folder)


def count_lines(corpus: Corpus, splits: Mapping[str, str]) -> tuple[list[str], bool]:
    """Impressions with a history beside the paper's, and whether they are the same; ``splits``: the
    corpus's names of train, valid and test (others are not counted)."""
    lines, same = ["impressions of readers with a history: here / paper 004"], True
    for role, reported in PAPER_004.items():
        name = splits.get(role, "")
        if name not in corpus.splits:
            lines.append(f"  {role:<6} {'–':>9} / {reported:,}  no split of its own")
            same = False
            continue
        n = int(np.count_nonzero(corpus.impressions(name).history_lengths))
        differs = n != reported
        same &= not differs
        lines.append(f"  {role:<6} {n:>9,} / {reported:,}{'  differs' if differs else ''}")
    if not same:
        lines.append(
            f"corpus {corpus.name!r} is not the paper's: differences from its numbers say nothing "
            "about a reproduction"
        )
    return lines, same


def small_part(
    corpus: Corpus,
    folder: Path,
    splits: Mapping[str, str],
    source: str,
    langs: Sequence[str],
    sizes: Mapping[str, int] = SMALL,
) -> Corpus:
    """The first impressions of each split, ``sizes`` of them, that shelf ``source`` can serve, with
    the articles they need and nothing else; ``splits`` as in `count_lines`.

    Raises `DataError` when a split has none.
    """
    parts = {
        splits[role]: _first(corpus, splits[role], source, n)
        for role, n in sizes.items()
        if splits.get(role, "") in corpus.splits
    }
    rows = np.unique(
        np.concatenate([x for p in parts.values() for x in (p.candidates.values, p.history.values)])
    )
    new = np.full(len(corpus.news), -1, np.int32)
    new[rows] = np.arange(len(rows))
    return write_corpus(
        folder,
        name=f"{corpus.name}-small",
        news=_news(corpus.news, rows),
        users=corpus.users,
        texts=[_texts(corpus.texts(x), rows) for x in dict.fromkeys((source, *langs))],
        splits={name: _renumbered(part, new) for name, part in parts.items()},
        info={"part_of": corpus.fingerprint, "impressions": dict(sizes)},
        made_by="newsrec reproduce … --quick",
    )


def usable(corpus: Corpus, split: str, source: str) -> NDArray[np.int64]:
    """Rows of a split with a shown click, a shown non-click and something read, on shelf
    ``source``: what can be learnt from."""
    impressions, present = corpus.impressions(split), corpus.texts(source).present
    _, kept, _ = keep_shown(impressions, present, present)
    read = count_true(impressions.history, present[impressions.history.values])
    return kept[read[impressions.history_of[kept]] > 0]


def _first(corpus: Corpus, split: str, source: str, n: int) -> Impressions:
    rows = usable(corpus, split, source)[:n]
    if not len(rows):
        raise DataError(f"corpus {corpus.name!r}: split {split!r} has no impression to try out")
    return corpus.impressions(split).take(rows)


def _renumbered(part: Impressions, new: NDArray[np.int32]) -> Impressions:
    history, candidates = (
        lists.like(new[lists.values]) for lists in (part.history, part.candidates)
    )
    return replace(part, history=history, candidates=candidates)


def _news(news: NewsTable, rows: NDArray[np.integer]) -> NewsTable:
    entities: Ragged | None = None if news.entities is None else news.entities.take(rows)
    return NewsTable(
        ids=news.ids[rows],
        category=news.category[rows],
        subcategory=news.subcategory[rows],
        category_names=news.category_names,
        subcategory_names=news.subcategory_names,
        published=news.published[rows],
        story=news.story[rows],
        entities=entities,
        entity_names=news.entity_names,
    )


def _texts(texts: Texts, rows: NDArray[np.integer]) -> Texts:
    title, abstract = (Strings.pack(x.take(rows)) for x in (texts.title, texts.abstract))
    return Texts(texts.language, title, abstract, np.asarray(texts.present[rows]))
