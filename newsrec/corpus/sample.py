"""The bundled sample: 72 articles in 15 languages, 60 readers, clicks from a stated process.

The texts were written for newsrec and are parallel by row, like xMIND. Category, subcategory and
story are the ground truth of 6 themes › 18 topics › 36 stories, two articles a story.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.folder import Corpus, write_corpus
from newsrec.corpus.sample_clicks import SEED, Click, Visit, simulate
from newsrec.errors import DataError, StaleCacheError
from newsrec.files import data_root
from newsrec.languages import XMIND
from newsrec.types import Impressions, NewsTable, Ragged, Strings, Texts

FOLDER = Path(__file__).parent / "sample"
LANGUAGES = ("eng", *XMIND)
VALID_FROM = np.datetime64("2026-03-16T00:00:00", "s")
_ATTEMPTS = 3
_MADE_BY = "newsrec recommend (any command that uses the bundled sample prepares it anew)"
TEST_FROM = np.datetime64("2026-03-19T00:00:00", "s")


def open_sample() -> Corpus:
    """The sample as a corpus, prepared under the data folder on first use (well under a second).

    All of it is verified on opening, and prepared again when it is damaged or incomplete.
    """
    folder = data_root() / "corpus" / f"sample-{_digest()}"
    for _ in range(_ATTEMPTS):
        try:
            return _opened(folder)
        except (DataError, StaleCacheError):
            prepare_sample(folder)
    return _opened(folder)


def _opened(folder: Path) -> Corpus:
    corpus = Corpus.open(folder)
    corpus.verify()
    return corpus


def prepare_sample(folder: Path) -> Corpus:
    """Write the sample as a corpus folder."""
    news = read_news()
    visits = simulate(news, LANGUAGES, np.random.default_rng(SEED))
    users = tuple(dict.fromkeys(visit.user for visit in visits))
    splits, read_in = {}, {}
    for split, (first, last) in _periods(visits).items():
        chosen = [visit for visit in visits if first <= visit.time < last]
        splits[split], read_in[split] = _impressions(chosen, users)
    return write_corpus(
        folder,
        name="sample",
        news=news,
        users=np.array(users),
        texts=[read_texts(language, news) for language in LANGUAGES],
        splits=splits,
        history_language=read_in,
        info={
            "source": "bundled with newsrec",
            "seed": SEED,
            "valid_from": str(VALID_FROM),
            "test_from": str(TEST_FROM),
        },
        made_by=_MADE_BY,
        unlisted=True,
    )


def read_news() -> NewsTable:
    """``articles.tsv`` as a `NewsTable`."""
    rows = _table(FOLDER / "articles.tsv", ("id", "category", "subcategory", "story", "published"))
    ids, category, subcategory, story, published = (list(c) for c in zip(*rows, strict=True))
    categories, of_category = _codes(category)
    subcategories, of_subcategory = _codes(subcategory)
    _, of_story = _codes(story)
    return NewsTable(
        ids=np.array(ids),
        category=of_category.astype(np.int16),
        subcategory=of_subcategory.astype(np.int16),
        category_names=categories,
        subcategory_names=subcategories,
        published=np.array(published, "datetime64[s]"),
        story=of_story.astype(np.int32),
    )


def read_texts(language: str, news: NewsTable) -> Texts:
    """``<language>.tsv`` as `Texts` on the rows of ``news``."""
    rows = _table(FOLDER / f"{language}.tsv", ("id", "title", "abstract"))
    where = news.rows([row[0] for row in rows])
    title, abstract = [""] * len(news), [""] * len(news)
    for row, (_, headline, lead) in zip(where, rows, strict=True):
        title[row], abstract[row] = headline, lead
    present = np.zeros(len(news), np.bool_)
    present[where] = True
    return Texts(language, Strings.pack(title), Strings.pack(abstract), present)


def _impressions(
    visits: list[Visit], users: tuple[str, ...]
) -> tuple[Impressions, NDArray[np.int16]]:
    """Visits as nouns, and the language each history item was read in."""
    row_of = {user: row for row, user in enumerate(users)}
    known: dict[tuple[Click, ...], int] = {}
    history_of = [known.setdefault(visit.history, len(known)) for visit in visits]
    impressions = Impressions(
        ids=np.array([visit.id for visit in visits]),
        user=np.array([row_of[visit.user] for visit in visits], np.int32),
        time=np.array([visit.time for visit in visits], "datetime64[s]"),
        history=Ragged.from_lists([[click.row for click in clicks] for clicks in known]),
        history_of=np.array(history_of, np.int32),
        candidates=Ragged.from_lists([visit.shown for visit in visits]),
        clicked=np.array([c for visit in visits for c in visit.clicked], np.bool_),
    )
    return impressions, np.array([c.language for clicks in known for c in clicks], np.int16)


def _periods(visits: list[Visit]) -> dict[str, tuple[np.datetime64, np.datetime64]]:
    end = max(visit.time for visit in visits) + np.timedelta64(1, "s")
    start = min(visit.time for visit in visits)
    return {
        "train": (start, VALID_FROM),
        "valid": (VALID_FROM, TEST_FROM),
        "test": (TEST_FROM, end),
    }


def _codes(names: list[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Distinct names in order of appearance, and the code of each."""
    table = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return tuple(table), np.array([table[name] for name in names])


def _table(path: Path, header: tuple[str, ...]) -> list[tuple[str, ...]]:
    lines = path.read_text("utf-8").split("\n")
    rows = [tuple(line.split("\t")) for line in lines if line]
    if not rows or rows[0] != header:
        raise DataError(
            f"{path}:1: found {rows[:1]}, expected the header {header}; reinstall newsrec"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise DataError(f"{path}:{number}: {len(row)} columns, expected {len(header)}")
    return rows[1:]


def _digest() -> str:
    """Changes when any file or the process of the sample does, so that an old one is not reused."""
    digest = hashlib.sha256()
    for path in sorted(
        [*FOLDER.glob("*.tsv"), Path(__file__), Path(__file__).with_name("sample_clicks.py")]
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
