"""How well the vectors of an encoder agree with what is known about texts of many languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from newsrec.protocols import Encoder
from newsrec.text.heldout import cut
from tests.bench.news_sets import semeval
from tests.bench.quality import graded_part

_LINES = 200


def with_english(data: Path, encoder: Encoder, languages: tuple[str, ...]) -> Iterator[str]:
    """NTREX lines kept out of training: the mean cosine of a line with its English original, and
    how often that is the nearest of all."""
    ntrex = cut(data).ntrex
    english = encoder.encode(ntrex["eng"][:_LINES])
    yield f"| language | cosine with the English line | it is the nearest of {_LINES} |"
    yield "|---|---|---|"
    found = []
    for language in (code for code in languages if code in ntrex and code != "eng"):
        cosine = encoder.encode(ntrex[language][:_LINES]) @ english.T
        nearest = np.mean(cosine.argmax(1) == np.arange(len(cosine)))
        found.append((float(np.diag(cosine).mean()), float(nearest)))
        yield f"| {language} | {found[-1][0]:.3f} | {found[-1][1]:.3f} |"
    mean = np.mean(found, axis=0)
    yield f"| mean of {len(found)} | {mean[0]:.3f} | {mean[1]:.3f} |"


def with_grades(data: Path, *encoders: Encoder) -> Iterator[str]:
    """SemEval's pairs: Pearson correlation of the cosine, language means out, with the grade."""
    yield "| encoder | tuning half | measured half |"
    yield "|---|---|---|"
    for encoder in encoders:
        cells = []
        for graded in map(semeval(data).take, (0, 1)):
            vectors, _ = graded_part(graded, encoder)
            one, other = vectors[graded.pairs.T]
            cosine = np.einsum("nd,nd->n", one, other)
            cells.append(f"{-np.corrcoef(cosine, graded.overall)[0, 1]:.3f}")
        yield f"| {encoder.spec.name} | {' | '.join(cells)} |"
