"""Articles and clicks of one's own to a corpus folder; shelves of several languages are normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import articles, clicks
from newsrec.corpus.archives import OnProgress
from newsrec.corpus.articles import Shelf, read_shelf
from newsrec.corpus.clicks import Visit, read_clicks
from newsrec.corpus.folder import Corpus, write_corpus
from newsrec.corpus.foreign import refuse_foreign
from newsrec.corpus.histories import impressions_of
from newsrec.corpus.negatives import add_negatives, by_language
from newsrec.corpus.report import Report, count_languages, count_split, ever_shown, future_notes
from newsrec.corpus.tables import parse_renamed
from newsrec.errors import ConfigError, DataError
from newsrec.types import Impressions

#: Columns that ``columns`` may rename.
COLUMNS = tuple(dict.fromkeys(
    (*articles.REQUIRED, *articles.OPTIONAL, *clicks.REQUIRED, *clicks.OPTIONAL)
))  # fmt: skip
_QUANTILES = (0.8, 0.9)
_MAX_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class ArticleOptions:
    """How own data is read.

    ``columns`` renames (``id=nid,title=headline``); ``valid_from`` and ``test_from`` cut by time,
    by default at the 80 % and 90 % quantile of the clicks' times; ``negatives`` unclicked articles
    are added to each lone click, drawn with ``seed`` from the ``negatives_days`` before it;
    ``max_missing`` is the largest share of the distinct articles in the clicks that may be missing
    in the articles; ``max_history`` newest clicks are stored as a history.
    """

    columns: str = ""
    valid_from: np.datetime64 | None = None
    test_from: np.datetime64 | None = None
    negatives: int = 0
    negatives_days: float = 7.0
    seed: int = 42
    max_missing: float = 0.5
    max_history: int = 200
    keep_first: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.max_missing <= 1:
            raise ConfigError(f"max_missing {self.max_missing}, expected a share from 0 to 1")
        if not 0 < self.negatives_days <= _MAX_DAYS:  # NaN fails this too.
            raise ConfigError(
                f"negatives_days {self.negatives_days}, expected a number above 0 and up to "
                f"{_MAX_DAYS:,}"
            )
        if self.negatives < 0 or self.seed < 0 or self.max_history < 1:
            raise ConfigError(
                f"negatives {self.negatives}, seed {self.seed}, max_history {self.max_history}: "
                "expected numbers above 0 (negatives and seed: 0 or more)"
            )


def prepare_articles(
    articles_path: Path,
    clicks_path: Path | None,
    folder: Path,
    options: ArticleOptions | None = None,
    *,
    made_by: str = "",
    on_progress: OnProgress | None = None,
) -> tuple[Corpus, Report]:
    """Read articles and clicks (CSV, TSV, JSON lines, Parquet) and write the corpus ``folder``.

    Without clicks it is a shelf to cluster, to search and to show strangers. ``on_progress(done,
    total)`` counts rows, first of articles, then of clicks. Raises `DataError`
    with file and line for input that is not as stated, `ConfigError` for options that make no
    sense together.
    """
    options = options or ArticleOptions()
    refuse_foreign(folder)
    renamed = parse_renamed(options.columns, COLUMNS)
    shelf = read_shelf(articles_path, renamed, options.keep_first, on_progress)
    if clicks_path is None:
        return _shelf_alone(shelf, folder, options, articles_path.name, made_by)
    row_of = shelf.catalogue.rows
    read = read_clicks(clicks_path, renamed, on_progress)
    visits, dropped = _known(read, row_of, options, clicks_path.name)
    published = _published(shelf, visits)
    notes = _notes(shelf) + future_notes(
        published=np.array(shelf.catalogue.published, "datetime64[s]"),
        impressions=np.array([visit.time for visit in visits], "datetime64[s]"),
    )
    if options.negatives:
        visits, note = _with_negatives(visits, shelf, published, options)
        notes.append(note)
    impressions, users = impressions_of(visits, row_of, options.max_history)
    cuts = _cuts(impressions, options)
    splits = _split(impressions, *cuts)
    news = replace(shelf.catalogue.table(), published=published)
    report = _report(folder.name, shelf, splits, users, dropped, tuple(notes))
    corpus = write_corpus(
        folder,
        name=report.name,
        news=news,
        users=users,
        texts=(shelf.catalogue.texts(language) for language in shelf.languages),
        splits=splits,
        history_language={
            name: shelf.language_of[part.history.values] for name, part in splits.items()
        },
        info=_info(options, report, shelf, cuts, (articles_path.name, clicks_path.name)),
        made_by=made_by,
    )
    return corpus, report


def _shelf_alone(
    shelf: Shelf, folder: Path, options: ArticleOptions, file: str, made_by: str
) -> tuple[Corpus, Report]:
    """A corpus of articles that nobody has clicked yet."""
    if options.negatives or options.valid_from is not None or options.test_from is not None:
        raise ConfigError("--negatives, --valid-from and --test-from need --clicks")
    nobody = np.zeros(0, np.str_)
    report = _report(folder.name, shelf, {}, nobody, {}, tuple(_notes(shelf)))
    corpus = write_corpus(
        folder,
        name=report.name,
        news=shelf.catalogue.table(),
        users=nobody,
        texts=(shelf.catalogue.texts(language) for language in shelf.languages),
        splits={},
        history_language={},
        info={"source": "own articles", "files": [file], "counts": report.to_dict()},
        made_by=made_by,
    )
    return corpus, report


def _known(
    visits: list[Visit], row_of: dict[str, int], options: ArticleOptions, where: str
) -> tuple[list[Visit], dict[str, int]]:
    """Visits without articles that no row tells of; `DataError` when those are too many."""
    named = {name for visit in visits for name in visit.shown}
    missing = sorted(named - row_of.keys())
    if len(missing) > options.max_missing * len(named):
        raise DataError(
            f"{where}: {len(missing):,} of {len(named):,} ids ({len(missing) / len(named):.1%}) "
            f"are not among the articles, for example {missing[0]!r}; expected at most "
            f"{options.max_missing:.0%}. --max-missing raises the limit"
        )
    kept, gone = [], 0
    for visit in visits:
        shown = {name: was for name, was in visit.shown.items() if name in row_of}
        gone += len(visit.shown) - len(shown)
        if shown:
            kept.append(replace(visit, shown=shown))
    dropped = {
        "articles in the clicks that the articles lack": len(missing),
        "candidates or clicks on such articles": gone,
        "impressions left without any article": len(visits) - len(kept),
    }
    if not kept:
        raise DataError(f"{where}: no click on any of the {len(row_of):,} articles")
    return kept, dropped


def _published(shelf: Shelf, visits: Sequence[Visit]) -> NDArray[np.datetime64]:
    """Times of publication ``(n_news,)``; where the articles do not tell, when first shown."""
    time = np.array(shelf.catalogue.published, "datetime64[s]")
    unknown = np.isnat(time)
    for visit in reversed(visits):  # The earliest is written last.
        for name in visit.shown:
            if unknown[row := shelf.catalogue.rows[name]]:
                time[row] = visit.time
    return time


def _with_negatives(
    visits: list[Visit], shelf: Shelf, published: NDArray[np.datetime64], options: ArticleOptions
) -> tuple[list[Visit], str]:
    ids = shelf.catalogue.ids()
    shelves = by_language(ids, shelf.language_of, published)
    language_of = dict(zip(ids, shelf.language_of.tolist(), strict=True))
    window = timedelta(days=options.negatives_days)
    rng = np.random.default_rng(options.seed)
    found, short = add_negatives(visits, shelves, language_of, options.negatives, window, rng)
    lone = sum(not visit.complete for visit in visits)
    added = sum(len(visit.shown) for visit in found) - sum(len(visit.shown) for visit in visits)
    note = (
        f"candidates are synthetic: {added:,} unclicked articles added to {lone:,} lone clicks, "
        f"{options.negatives} to each but {short:,} that got fewer (seed {options.seed})"
    )
    if not added:
        note += f"; none came out in the {options.negatives_days} days before: --negatives-days"
    return found, note


def _cuts(impressions: Impressions, options: ArticleOptions) -> tuple[np.datetime64, np.datetime64]:
    """Where validation and test begin: as told, else at quantiles of the clicks' times."""
    owner = impressions.candidates.owner()[impressions.clicked]
    times = impressions.time[owner] if len(owner) else impressions.time
    found = np.quantile(times.astype(np.int64), _QUANTILES).astype(np.int64)
    valid, test = (np.datetime64(int(moment), "s") for moment in found)
    valid_from = valid if options.valid_from is None else options.valid_from
    test_from = max(test, valid_from) if options.test_from is None else options.test_from
    if options.valid_from is None:
        valid_from = min(valid_from, test_from)
    if valid_from > test_from:
        raise ConfigError(f"valid-from {valid_from} lies after test-from {test_from}")
    return valid_from, test_from


def _split(
    impressions: Impressions, valid_from: np.datetime64, test_from: np.datetime64
) -> dict[str, Impressions]:
    """``train``, ``valid`` and ``test`` by time; empty ones are left out."""
    time = impressions.time
    masks = {
        "train": time < valid_from,
        "valid": (time >= valid_from) & (time < test_from),
        "test": time >= test_from,
    }
    return {
        name: impressions.take(np.flatnonzero(mask)) for name, mask in masks.items() if mask.any()
    }


def _notes(shelf: Shelf) -> list[str]:
    catalogue, notes = shelf.catalogue, []
    if catalogue.repeated:
        notes.append(
            f"{catalogue.repeated:,} articles came more than once, {catalogue.conflicting:,} of "
            "them with another text (the first was kept)"
        )
    if shelf.replaced:
        notes.append(
            f"{shelf.replaced:,} texts held NUL characters or lone surrogates (U+FFFD now)"
        )
    silent = sum(int(np.count_nonzero(~catalogue.present(code)[[*told]]))
                 for code, told in catalogue.told.items())  # fmt: skip
    if silent:
        notes.append(f"{silent:,} articles have no text at all")
    return notes


def _report(
    name: str,
    shelf: Shelf,
    splits: dict[str, Impressions],
    users: NDArray[np.str_],
    dropped: dict[str, int],
    notes: tuple[str, ...],
) -> Report:
    shelves = [(language, shelf.catalogue.present(language)) for language in shelf.languages]
    n_news = len(shelf.catalogue)
    return Report(
        name=name,
        news=n_news,
        readers=len(users),
        languages=count_languages(shelves, ever_shown(splits, n_news)),
        splits=tuple(count_split(split, part) for split, part in splits.items()),
        dropped=dropped,
        notes=notes,
    )


def _info(
    options: ArticleOptions,
    report: Report,
    shelf: Shelf,
    cuts: tuple[np.datetime64, np.datetime64],
    files: tuple[str, str],
) -> dict[str, Any]:
    unknown = int(np.count_nonzero(np.isnat(np.array(shelf.catalogue.published))))
    published = {0: "given", len(shelf.catalogue): "first shown"}
    return {
        "source": "own articles and clicks",
        "protocol": "newsrec",
        "history": f"newest {options.max_history}, strictly before the impression",
        "valid_from": str(cuts[0]),
        "test_from": str(cuts[1]),
        "published": published.get(unknown, f"given, {unknown} first shown"),
        "negatives": {
            "synthetic": options.negatives,
            "days": options.negatives_days,
            "seed": options.seed,
        },
        "files": list(files),
        "counts": report.to_dict(),
    }
