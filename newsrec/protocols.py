"""The verbs' shapes. Anything with these methods plugs in; nothing inherits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from newsrec.types import Article, EncoderSpec, Features, Impressions, Pool, Summary


@runtime_checkable
class Encoder(Protocol):
    """Texts to vectors: same order, independent of batch size and neighbours."""

    @property
    def spec(self) -> EncoderSpec: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim) float32``."""
        ...


@runtime_checkable
class Ranker(Protocol):
    """Impressions to scores: higher is better, comparable inside one impression only."""

    def score(self, impressions: Impressions, features: Features) -> NDArray[np.float32]:
        """``(nnz,) float32``, aligned with ``impressions.candidates.values``."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """A reader's scored candidates to an order that never loses one.

    A relevance weight of 1 gives score order; ties keep it; a positive affine map of the scores
    changes nothing.
    """

    def __call__(self, pool: Pool) -> NDArray[np.int64]:
        """Permutation of ``range(len(pool))``, best first."""
        ...


class Clusterer(Protocol):
    """Vectors ``(n, dim)`` to labels ``(n,) int32``."""

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.int32]: ...


@runtime_checkable
class Summarizer(Protocol):
    """The articles of a cluster, in any languages, to a few sentences of plain text in one.

    Same articles, same summary, in whatever order they come; articles without any text give an
    empty one. No article can change the instructions of a model or bring markup into the text.
    """

    def __call__(self, articles: Sequence[Article], language: str) -> Summary:
        """At most three sentences in ``language`` (ISO 639-3). `DataError` without articles."""
        ...


class Tracker(Protocol):
    """Where runs are recorded; `newsrec.track` has MLflow and nothing."""

    def log(self, report: Any) -> None:
        """One `newsrec.evaluate.EvalReport`: a system on a language with a seed."""
        ...

    def finish(self, results: Any, folder: Path) -> None:
        """The `newsrec.evaluate.Results` of the whole, and the files in ``folder``."""
        ...


class TrainTracker(Protocol):
    """Where trainings are recorded; `newsrec.track` has MLflow and nothing.

    Between ``begin`` and ``end`` everything belongs to one run of the training: a language, a
    number of shots, a seed.
    """

    def begin(self, name: str, params: Mapping[str, object]) -> None:
        """A run begins, or goes on."""
        ...

    def epoch(self, report: Any) -> None:
        """One `newsrec.rank.EpochReport`."""
        ...

    def trained(self, folder: Path) -> None:
        """The folder of the ranker that was trained, as `newsrec.rank.save_ranker` left it."""
        ...

    def measured(self, report: Any) -> None:
        """One `newsrec.evaluate.EvalReport` of that ranker: a test in one language."""
        ...

    def end(self, status: str = "FINISHED") -> None:
        """The run is over: ``FINISHED`` or ``FAILED``."""
        ...

    def finish(self, results: Any, folder: Path) -> None:
        """The `newsrec.evaluate.Results` of the whole, and the files in ``folder``."""
        ...
