"""The piece inventory of a static encoder: unigram pieces from a language-balanced sample."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_CHARACTERS_OF_WORDS = 0.35  # a language's share of dictionary words, when it has enough sentences


def balanced(
    texts: Sequence[str],
    language: NDArray[np.int16],
    is_word: NDArray[np.bool_],
    budgets: Sequence[int],
    rng: np.random.Generator,
) -> list[str]:
    """Texts of every language up to ``budgets[language]`` characters, sentences before words."""
    lengths = np.array([len(text) for text in texts])
    sample: list[str] = []
    for code, budget in enumerate(budgets):
        spent = 0
        for words in (False, True):
            rows = np.flatnonzero((language == code) & (is_word == words))
            rows = rows[rng.permutation(len(rows))]
            limit = budget
            if words:
                limit = int(min(budget * _CHARACTERS_OF_WORDS, budget * 1.25 - spent))
            rows = rows[: np.searchsorted(np.cumsum(lengths[rows]), limit)]
            spent += int(lengths[rows].sum())
            sample += [texts[int(row)] for row in rows]
    return sample


def train_pieces(
    sample: Iterable[str], n_pieces: int, *, n_threads: int = 2
) -> list[tuple[str, float]]:
    """At most `n_pieces` unigram pieces with their log probabilities; piece 0 is the unknown one.

    Kudo 2018, by sentencepiece, whose result depends on nothing but its input and `n_threads`.
    """
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sample),
        model_writer=model,
        model_type="unigram",
        vocab_size=n_pieces,
        hard_vocab_limit=False,
        seed_sentencepiece_size=4 * n_pieces,
        shrinking_factor=0.7,
        num_sub_iterations=2,
        normalization_rule_name="identity",
        character_coverage=0.9998,
        max_sentencepiece_length=16,
        max_sentence_length=100_000,
        split_by_number=False,
        split_by_unicode_script=False,
        unk_id=0,
        bos_id=-1,
        eos_id=-1,
        pad_id=-1,
        num_threads=n_threads,
        minloglevel=2,
    )
    trained = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [(trained.id_to_piece(i), trained.get_score(i)) for i in range(len(trained))]


def han_map() -> dict[str, str]:
    """Traditional and Japanese forms of Han characters -> simplified, from OpenCC's tables."""
    from importlib.resources import files

    def table(name: str) -> dict[str, str]:
        path = files("opencc") / "dictionary" / f"{name}.txt"
        rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
        return {row[0]: row[1].split(" ")[0] for row in rows if len(row) == 2}

    simple = {a: b for a, b in table("TSCharacters").items() if len(a) == len(b) == 1}
    for old, new in table("JPVariants").items():  # traditional -> Japanese
        if len(old) == len(new) == 1:
            simple.setdefault(new, simple.get(old, old))
    return {a: b for a, b in sorted(simple.items()) if a != b}
