"""Articles given as texts to scores of a trained head: requests that belong to no corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsrec import build
from newsrec.config import EncoderConfig
from newsrec.encode.checked import vectors_of
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.given import Asked, Given, Row, read_row
from newsrec.protocols import Encoder
from newsrec.rank.ensemble import AspectEnsemble
from newsrec.rank.means import LanguageMeans, load_means
from newsrec.rank.model_folder import load_ranker
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.trained import ENCODER, ranker_folder, trained
from newsrec.types import Embeddings, EmbeddingSpec, Features

TrainedRanker: TypeAlias = NeuralRanker | AspectEnsemble
Scores = NDArray[np.float32]


def score_articles(
    ranker: TrainedRanker,
    encoder: Encoder | None,
    history: Sequence[Given],
    candidates: Sequence[Given],
    means: LanguageMeans | None = None,
) -> Scores:
    """``(n_candidates,) float32``: how well ``candidates`` suit a reader of ``history``.

    An article is its title, or a mapping of title, abstract, body, language (any spelling that
    `newsrec.languages.canonical` knows; English where it is not told), category and entities
    (Wikidata ids); what the ranker does not read may be left out. Scores are those of the same
    articles in the corpus that ``means`` are of (`newsrec.rank.means`), and comparable within one
    call. A reader without history, or with nothing in it that the ranker can read, gives every
    candidate 0; no candidates give no scores.

    ``encoder``: None for a ranker that reads no texts. ``means``: only for rankers that read
    vectors without their language's mean, which those of an encoder of unit length are unless told
    otherwise.

    `DataError` names an article that cannot be read, `ConfigError` an encoder or means that are
    missing or not the ranker's.
    """
    return score_rows(ranker, encoder, [(history, candidates)], means)[0]


def score_rows(
    ranker: TrainedRanker,
    encoder: Encoder | None,
    rows: Sequence[Row],
    means: LanguageMeans | None = None,
) -> list[Scores]:
    """`score_articles` for several ``(history, candidates)``; every text is encoded once.

    One array a row. The scores of a row do not depend on the other rows, but for the encoder's
    last digits.
    """
    where = "" if len(rows) == 1 else "row {}, "
    read = [read_row(row, where.format(i)) for i, row in enumerate(rows)]
    found = [np.zeros(len(candidates), np.float32) for _, candidates in read]
    live = [i for i, (history, candidates) in enumerate(read) if history and candidates]
    if live:
        asked = Asked.of_rows([read[i] for i in live])
        views = [view for one in _parts(ranker) for view in one.head.inputs.views]
        seen = {view: _embeddings(asked, encoder, view) for view in dict.fromkeys(views)}
        features = Features(
            asked.news, seen, seen, history_language=asked.of, shelf_language=asked.of,
            means=_means(ranker, asked.languages, means),
        )  # fmt: skip
        scores = ranker.score(asked.impressions, features)
        for i, start, end in zip(live, *_bounds(asked), strict=True):
            found[i] = scores[start:end]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """A trained ranker with everything that it needs to score texts."""

    ranker: TrainedRanker
    encoder: Encoder | None
    means: LanguageMeans | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        seed: int | None = None,
        *,
        device: str | None = None,
        trust_remote_code: bool = False,
    ) -> Scorer:
        """The ranker in ``folder``, as `newsrec.rank.load_ranker` finds it, with the encoder that
        it was trained on: the one inside if it was tuned, else the one that its manifest names.

        ``device`` of the encoder. ``trust_remote_code``: it may run Python code of its repository;
        what the manifest says of that does not count. Errors as those of `load_ranker` and
        `newsrec.encode.load_encoder`; `ConfigError` when the encoder is not that of the training.
        """
        folder = ranker_folder(folder, seed)
        ranker = load_ranker(folder)
        reading = [one.head.inputs for one in _parts(ranker) if one.head.inputs.views]
        encoder = None
        if reading:
            encoder = build.encoder(_encoder_config(folder, device), trust_remote_code)
            for inputs in reading:
                inputs.check(encoder.spec)
        return cls(ranker, encoder, load_means(folder))

    def score(self, history: Sequence[Given], candidates: Sequence[Given]) -> Scores:
        """As `score_articles`."""
        return score_articles(self.ranker, self.encoder, history, candidates, self.means)

    def score_rows(self, rows: Sequence[Row]) -> list[Scores]:
        """As the function of that name."""
        return score_rows(self.ranker, self.encoder, rows, self.means)


def _parts(ranker: TrainedRanker) -> list[NeuralRanker]:
    if isinstance(ranker, AspectEnsemble):
        return [ranker.relevance, *ranker.modules.values()]
    return [ranker]


def _embeddings(asked: Asked, encoder: Encoder | None, view: str) -> Embeddings:
    """Every article of the request as ``encoder`` reads ``view``."""
    if encoder is None:
        raise ConfigError(f"the ranker reads an encoder's vectors of {view!r}, and none is given")
    present = asked.texts.present
    distinct, number = np.unique(asked.texts.view(view), return_inverse=True)
    vectors = np.zeros((len(present), encoder.spec.dim), np.float32)
    if len(distinct):
        vectors[present] = vectors_of(encoder, distinct.tolist())[number.reshape(-1)]
    spec = EmbeddingSpec(encoder.spec, asked.texts.language, view, "")
    return Embeddings(vectors, present, spec)


def _means(
    ranker: TrainedRanker, languages: tuple[str, ...], means: LanguageMeans | None
) -> dict[str, NDArray[np.float32]] | None:
    """What articles of ``languages`` lose, ``(k, dim)`` by view; None where nothing is lost."""
    centred = [one.head for one in _parts(ranker) if one.head.inputs.centred != "none"]
    for head in centred:
        if head.inputs.centred == "global":
            raise ConfigError(
                f"head {head.name!r} reads vectors without the mean of both sides of a corpus "
                "(centre 'global'), which single articles do not have; train it with centre "
                "'language'"
            )
        if means is None:
            raise ConfigError(
                f"head {head.name!r} reads vectors without their language's mean, and the means "
                "of its training are missing (means.safetensors beside its weights); train it "
                "again, or give means=LanguageMeans.of(…)"
            )
        head.inputs.check(means.encoder)
    if means is None or not centred:
        return None
    views = dict.fromkeys(view for head in centred for view in head.inputs.views)
    return {view: means.removed(view, languages) for view in views}


def _bounds(asked: Asked) -> tuple[list[int], list[int]]:
    offsets = asked.impressions.candidates.offsets.tolist()
    return offsets[:-1], offsets[1:]


def _encoder_config(folder: Path, device: str | None) -> EncoderConfig:
    """Of the ranker in its own ``folder``. A tuned encoder says itself how it wants to be used."""
    tuned = folder / ENCODER
    made: Mapping[str, Any] = {"name": str(tuned)}
    if not tuned.is_dir():
        made = trained(folder).encoder or {}
    if not isinstance(made.get("name"), str):
        raise DataError(
            f"{folder}: its manifest names no encoder (made.encoder) and it has none of its own "
            f"({ENCODER}/); load both yourself and use newsrec.pipeline.score_articles"
        )
    left = ("device", "trust_remote_code")
    options = {k: v for k, v in (made.get("options") or {}).items() if k not in left}
    return EncoderConfig(
        name=made["name"], options=options if device is None else {**options, "device": device}
    )
