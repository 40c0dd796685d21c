"""The model card of `mini`, written by the run that made the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from newsrec.languages import name
from newsrec.text.groups import SOURCES

if TYPE_CHECKING:
    from newsrec.encode.static import StaticEncoder
    from newsrec.mini.recipe import Recipe
    from newsrec.text.heldout import HeldOut
    from newsrec.text.pool import Pool

LICENCE = """The weights in this folder (table.safetensors, pieces.tsv.gz, config.json) are
licensed under Creative Commons Attribution-NonCommercial 4.0 International (CC BY-NC 4.0):
https://creativecommons.org/licenses/by-nc/4.0/legalcode

They were trained on the data sets that README.md lists with their licences. The code that reads
them is licensed under Apache-2.0.
"""

_TARGETS = {"tatoeba": 84, "ntrex": 95, "pairs": 82, "sib": 76}
_TITLES = {
    "tatoeba": "Tatoeba, other language → English",
    "ntrex": "NTREX, other language → English",
    "pairs": "NTREX, 132 pairs without English",
    "sib": "SIB-200 topics, zero-shot",
}


def average(scores: Mapping[str, float]) -> float:
    """Mean over languages other than English."""
    return float(np.mean([value for code, value in scores.items() if code != "eng"]))


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _summary(scores: Mapping[int, Mapping[str, Mapping[str, float]]]) -> str:
    dims = sorted(scores, reverse=True)
    rows = [
        [title, str(_TARGETS[test]), *(f"{average(scores[dim][test]):.1f}" for dim in dims)]
        for test, title in _TITLES.items()
    ]
    return _table(["held out, average", "target", *(f"{dim} dims" for dim in dims)], rows)


def _languages(scores: Mapping[str, Mapping[str, float]], held: HeldOut) -> str:
    codes = sorted({*scores["tatoeba"], *scores["ntrex"], *scores["sib"]})
    rows = []
    for code in codes:
        own, _, rest = held.tatoeba.get(code, ([], [], []))
        to_other = [v for pair, v in scores["pairs"].items() if pair.startswith(f"{code}-")]
        rows.append([
            f"{code} {name(code)}",
            _cell(scores["tatoeba"].get(code)),
            f"{len(own)} in {len(own) + len(rest)}" if own else "",
            _cell(scores["ntrex"].get(code)),
            _cell(float(np.mean(to_other)) if to_other else None),
            _cell(scores["sib"].get(code)),
        ])  # fmt: skip
    head = ["language", "Tatoeba", "queries in pool", "NTREX → eng", "NTREX → others", "SIB-200"]
    return _table(head, rows)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _data(pool: Pool, dropped: Mapping[str, int], recipe: Recipe) -> str:
    lengths = pool.groups.lengths
    rows = []
    used = {name: part for name, part in recipe.share.items() if name in pool.sources}
    told: set[str] = set()
    for key, source in SOURCES.items():
        joined = "dictionary" if key in ("muse", "wiktionary") else key
        if joined not in pool.sources:
            continue
        if joined in told:
            rows.append([source.folder, source.what, source.licence, *["with the others"] * 4])
            continue
        told.add(joined)
        mine = pool.source == pool.sources.index(joined)
        rows.append([
            source.folder, source.what, source.licence,
            f"{int((lengths[mine] > 1).sum()):,}", f"{int(lengths[mine].sum()):,}",
            f"{dropped[joined]:,}", f"{100 * used.get(joined, 0) / sum(used.values()):.1f} %",
        ])  # fmt: skip
    head = [
        "folder",
        "what",
        "licence as stated",
        "groups",
        "texts",
        "dropped as held out",
        "share",
    ]
    return _table(head, rows)


def card(
    *,
    recipe: Recipe,
    seed: int,
    encoder: StaticEncoder,
    n_bytes: int,
    scores: Mapping[int, Mapping[str, Mapping[str, float]]],
    held: HeldOut,
    pool: Pool,
    dropped: Mapping[str, int],
    minutes: Mapping[str, tuple[float, float]],
) -> str:
    """The card as markdown; every number comes from the run."""
    full = scores[encoder.dim]
    return f"""# mini, the built-in encoder of newsrec

A static multilingual Matryoshka encoder: a text is the normalised sum of the vectors of its
subword pieces. The most important comes first in news: piece k of a text, from 0, has the weight
1 / √(1 + min(k, 1023) / 16), and one that comes c times counts √c times its mean weight.
{recipe.n_pieces:,} unigram pieces × {encoder.dim} dimensions, levels
{", ".join(map(str, encoder.levels))} (prefixes, renormalised), 4 bits per weight with one step size
per piece. numpy and tokenizers only. Text is normalised with NFKC, lower-cased, Han characters are
made simplified, punctuation becomes space. A text without a known piece gets the zero vector.

This file is written by `scripts/train_mini`. Weights: **CC BY-NC 4.0**, for what they were trained
on (below). Code: Apache-2.0. Revision `{encoder.revision}`, {n_bytes / 1e6:.2f} MB in all.

## Scores on development splits

{_summary(scores)}

English topics with the same classifier: {full["sib"].get("eng", float("nan")):.1f}.

{_languages(full, held)}

* Tatoeba: nearest English neighbour by cosine. One English sentence in 14 is held out in every
  language (more often where a language has few); pools are filled with other held-out English
  sentences to the size of the public test set (1,000; kat 746, tha 548, swh 390, tam 307).
  Swahili has 19 queries and Tamil 10, so their rows, and up to a point the average, are noise.
* NTREX: 300 aligned sentences; {len(held.ntrex_lines)} lines, whole documents, are kept out.
* SIB-200: logistic regression (C = 1) fitted on the English *train* vectors, tested on the 99
  *dev* sentences of each language. The label-free *train* sentences of all languages are training
  text.
* Leaks: a training text equal to a held-out text in letters and digits, case folded, in any
  language, is dropped ({sum(dropped.values()):,} texts; the table has them by source).
  newstest2019 out of English is left out as a whole, since NTREX translates it.
  {len(held.flores_lines)} FLORES devtest lines that are SIB-200 dev sentences are left out.
  The other FLORES devtest lines are used, unlabelled; they include sentences of the SIB-200 *test*
  part, whose numbers are not in our data.

## Data

{_data(pool, dropped, recipe)}

`dictionary` sources are read for 18 languages only. Share: of the groups drawn for a step.
English side of {int(sum(recipe.taught.values())):,} groups of the larger sources and of every
group of the others: vectors of the teacher all-MiniLM-L6-v2 (Apache-2.0).

{_training(recipe, seed, minutes)}
"""


def _training(recipe: Recipe, seed: int, minutes: Mapping[str, tuple[float, float]]) -> str:
    options = recipe.options
    plan = ", ".join(f"{n:,} steps with τ {t}" for t, n in recipe.plan)
    spent = ", ".join(f"{stage} {a:.0f} ({b:.0f})" for stage, (a, b) in minutes.items())
    return f"""## Training

Objective: MPCL (Zhao et al. 2024), equation 2, at every level, cosine
without the min-max rescaling, all texts of the batch in the denominator, plus
{options.distil} × (1 − cosine to the teacher's vector of the group's English side, reduced by PCA).
{len(recipe.plan)} runs from the same start, their tables averaged:
{plan}.
Each step draws about {options.n_groups} groups of 2 to {options.n_texts} texts,
{100 * options.drop:.0f} % of the pieces dropped, Adam on the touched rows,
peak rate {options.rate}, linear decay, mean over the last
{100 * (1 - options.average_from):.0f} % of the steps; {100 * options.focus:.0f} % of the steps draw
from one kind of text only (written sentences, Tatoeba, words), so that negatives are alike. Each
step takes the loss at the full width and, in turn, at one of the shorter levels. While training,
pieces share rows with pieces of like spelling; the sums are the table. Start: mean teacher vector
of the texts that hold the piece. Pieces count the same wherever they stand while training. At the
end a vector of length l is made l / (1 + l / {recipe.limit:g}) long.
Seed {seed}. Minutes by the clock (of processor time): {spent}.

## Limits

Order of words is not seen. Georgian, Somali, Guarani, Haitian, Tamil and Swahili have little
training text. Languages outside the training data get what they share in spelling."""
