"""A front page for one reader: the story of newsrec, top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.corpus.readers import reading
from newsrec.encode import EmbeddingStore
from newsrec.pipeline.history import History, history
from newsrec.pipeline.request import Request
from newsrec.pipeline.shelf import Rows, last_moment, on_offer
from newsrec.pipeline.variety import Variety
from newsrec.pipeline.vectors import Vectors
from newsrec.protocols import Encoder
from newsrec.rank.clicks import ClickLog, first_shown
from newsrec.rank.cold import ColdStart
from newsrec.rank.mixed import MixedList, merge
from newsrec.rank.reasons import reasons

if TYPE_CHECKING:
    from newsrec.pipeline.rescoring import Rescoring
    from newsrec.pipeline.varied import Varied

Search = Callable[[int], MixedList]


@dataclass(frozen=True, slots=True)
class Because:
    """The history article that contributes most to a score, and its ``share`` in [0, 1] of what
    speaks for the recommended one: 0 where nothing does."""

    id: str
    language: str
    title: str
    share: float


@dataclass(frozen=True, slots=True)
class Item:
    """One recommendation; ``because`` is None in a list that no history made; ``clusters`` names
    those it is in by level, ``{"theme": …, "topic": …}``, in a list that clusters had a part in."""

    rank: int
    id: str
    language: str
    title: str
    score: float
    because: Because | None
    clusters: dict[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """``{rank, id, language, title, score, because}``, and ``clusters`` where there are any."""
        found = asdict(self)
        if self.clusters is None:
            del found["clusters"]
        return found


@dataclass(frozen=True, slots=True)
class Recommendations:
    """A list for ``user`` from the shelf of ``language``; ``fallback`` says why it is not
    personal, None when it is."""

    user: str
    language: str
    fallback: str | None
    items: tuple[Item, ...]

    def to_dict(self) -> dict[str, Any]:
        """``{user, language, fallback, items: [{rank, id, language, title, score, because}]}``."""
        return {**asdict(self), "items": [item.to_dict() for item in self.items]}


def recommend(
    corpus: Corpus,
    request: Request,
    *,
    variety: Variety | None = None,
    encoder: Encoder | str | None = None,
    ranker: Path | str | None = None,
    trust_remote_code: bool = False,
    store: EmbeddingStore | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Recommendations:
    """Rank the whole shelf for one reader by late fusion, each story once, with reasons.

    A reader without history, or unknown, gets what is fresh and popular, spread over categories
    (`newsrec.rank.cold`). ``trust_remote_code``: an ``encoder`` that is named may run Python code
    of its repository; None: mini, or the one ``ranker`` was trained with. ``ranker``: folder of a
    trained one, which then scores what late fusion finds. ``variety``: how varied the list is to be
    (None: by relevance). Raises `ConfigError` for a language that the corpus does not have.
    """
    now = last_moment(corpus) if request.as_of is None else request.as_of
    read = reading(corpus, request.user, now)
    offer = on_offer(corpus, request, read, now)
    # Shelves of several languages are comparable only without each language's own mean.
    centre = request.centre or ("language" if len(request.languages) > 1 else "spec")
    head = None if ranker is None else _rescoring(Path(ranker), encoder, trust_remote_code)
    seeing = (encoder or "mini") if head is None else head.encoder
    vectors = Vectors(
        corpus, seeing, store, centre=centre, shelves=request.languages,
        trust_remote_code=trust_remote_code, on_progress=on_progress,
    )  # fmt: skip
    varied = None if variety is None else _varied(corpus, vectors, request, variety)
    past = history(corpus, vectors, request, read)
    if past is None:
        return _fallback(corpus, request, offer, now, varied, known=read is not None)
    query, once = past.vectors.mean(0), _once(varied)

    # A head chooses among the versions of a story itself.
    first = once and head is None

    def similar(n: int) -> MixedList:
        found = {
            language: vectors.shelf(language, rows, once=first).top(query, n)
            for language, rows in offer.items()
        }
        return merge(found, n, corpus.news.story, once=first)

    search: Search = similar
    if head is not None:
        search = _scored_by(head, similar, corpus, vectors, past, once)
    seen = past.rows if read is None else read.rows  # a story read long ago is read, too
    best = _chosen(search, request, offer, varied, seen)
    because = _because(corpus, vectors, best, past)
    return _list(corpus, request, best, because, varied, fallback=None)


def _rescoring(folder: Path, encoder: Encoder | str | None, trust: bool) -> Rescoring:
    """The trained ranker, which is what needs torch."""
    from newsrec.pipeline.rescoring import Rescoring

    return Rescoring(folder, encoder, trust)


def _scored_by(
    head: Rescoring, search: Search, corpus: Corpus, vectors: Vectors, past: History, once: bool
) -> Search:
    """A search that finds as ``search`` does, and ranks by the head; each story ``once``."""

    def scored(n: int) -> MixedList:
        found = head.scored(corpus, vectors, past, search(max(n, head.pool)))
        return found.once(corpus.news.story).head(n) if once else found.head(n)

    return scored


def _varied(corpus: Corpus, vectors: Vectors, request: Request, variety: Variety) -> Varied | None:
    """Who makes the list varied; None where nothing is asked for, which then loads no clusters."""
    if not variety.asked:
        return None
    from newsrec.pipeline.varied import Varied

    return Varied(corpus, vectors, request, variety)


def _once(varied: Varied | None) -> bool:
    """Whether the search keeps one version of a story, or leaves that to the list's own limit."""
    return varied is None or not varied.every_version


def _chosen(
    search: Search,
    request: Request,
    offer: dict[str, Rows],
    varied: Varied | None,
    read: NDArray[np.integer],
) -> MixedList:
    """The ``k`` best of what is on offer, or those that make a varied list."""
    if varied is None:
        return search(request.k)
    return varied.choose(search, read, sum(map(len, offer.values())))


def _fallback(
    corpus: Corpus,
    request: Request,
    offer: dict[str, Rows],
    now: np.datetime64,
    varied: Varied | None,
    *,
    known: bool,
) -> Recommendations:
    """Fresh and popular, spread over categories; the score is the heat."""
    splits = [corpus.impressions(split) for split in corpus.splits]
    labelled = [split for split in splits if split.clicked is not None]
    cold = ColdStart(ClickLog.of(*labelled), first_shown(len(corpus.news), *labelled))
    rows = np.unique(np.concatenate(list(offer.values())))
    moment = np.asarray(now)
    rows = rows[cold.order(corpus.news, rows, moment)]
    # The place in that order is what ranks; the heat is what is reported.
    places = -np.arange(len(rows), dtype=np.float32)
    spoken = _by_turns(rows, list(offer.values()))
    lists = {language: (rows[spoken == i], places[spoken == i]) for i, language in enumerate(offer)}

    def search(n: int) -> MixedList:
        return merge(lists, n, corpus.news.story, once=_once(varied))

    best = _chosen(search, request, offer, varied, np.zeros(0, np.int64))
    heat = cold.heat(corpus.news, best.rows, moment).astype(np.float32)
    best = replace(best, scores=heat)
    history = f"reader {request.user!r} has no history that can be read at {now}"
    who = history if known else f"no reader {request.user!r} in this corpus"
    note = f"{who}: fresh and popular articles instead, spread over categories"
    return _list(corpus, request, best, [None] * len(best.rows), varied, fallback=note)


def _by_turns(rows: Rows, shelves: Sequence[Rows]) -> Rows:
    """Which of the ``shelves`` shows each of ``rows (n,)``: of those that have it the one whose
    turn it is or comes next, so that a mixed list is not all in the language named first."""
    has = np.stack([np.isin(rows, shelf) for shelf in shelves])
    wait = (np.arange(len(shelves))[:, None] - np.arange(len(rows))) % len(shelves)
    return np.asarray(np.where(has, wait, len(shelves)).argmin(0))


def _because(
    corpus: Corpus, vectors: Vectors, best: MixedList, past: History
) -> list[Because | None]:
    """The reason of each article in ``best``."""
    if not len(best.rows):  # no vectors to put together
        return []
    languages = [best.languages[place] for place in best.language]
    found = reasons(vectors.at(best.rows, languages), past.vectors)

    def because(which: int, share: float) -> Because:
        row, language = int(past.rows[which]), past.languages[which]
        title = corpus.texts(language).title[row]
        id_ = str(corpus.news.ids[row])
        return Because(id_, language, title, round(share, 4))

    return [because(w, s) for w, s in zip(found.which.tolist(), found.share.tolist(), strict=True)]


def _list(
    corpus: Corpus,
    request: Request,
    best: MixedList,
    because: list[Because | None],
    varied: Varied | None,
    fallback: str | None,
) -> Recommendations:
    """The articles ``best`` as the reader sees them."""
    items = []
    named = [None] * len(best.rows) if varied is None else varied.named(best.rows)
    for i, row in enumerate(best.rows.tolist()):
        language = best.languages[best.language[i]]
        title, score = corpus.texts(language).title[row], round(float(best.scores[i]), 6)
        id_ = str(corpus.news.ids[row])
        items.append(Item(i + 1, id_, language, title, score, because[i], named[i]))
    return Recommendations(request.user, ",".join(request.languages), fallback, tuple(items))
