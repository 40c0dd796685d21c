"""N-grams are counted right in every script, and TF-IDF is its definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError
from newsrec.rank import TfIdf, ngrams
from newsrec.rank.ngrams import count_ngrams, plain_text
from newsrec.types import Impressions, Ragged, Strings, Texts
from tests.rank.test_baselines import only_news, shown
from tests.synthetic import DAY, known_answer, topic_texts

SCRIPTS = [
    "Uusi silta avattiin Oulussa",
    "新しい橋が開通した",
    "สะพานใหม่เปิดแล้ว",
    "新桥今天开通",
    "ახალი ხიდი გაიხსნა",
    "புதிய பாலம் திறக்கப்பட்டது",
]


def texts_of(titles: list[str], language: str = "fin") -> Texts:
    present = np.array([bool(t) for t in titles])
    blank = Strings.pack([""] * len(titles))
    return Texts(language, Strings.pack(titles), blank, present)


def by_hand(text: str, sizes: tuple[int, ...]) -> Counter[str]:
    text = plain_text(text)
    grams = (text[i : i + n] for n in sizes for i in range(len(text) - n + 1))
    return Counter(g for g in grams if g != " ")


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=6), st.sampled_from([(1,), (2, 3), (1, 2, 4)]))
def test_counts_are_those_of_a_count_by_hand(texts: list[str], sizes: tuple[int, ...]) -> None:
    found, counts = count_ngrams(texts, sizes=sizes, bits=26)
    assert len(found) == len(texts)
    for text, times in zip(texts, found.like(counts), strict=True):
        expected = sorted(by_hand(text, sizes).values())
        # 64 million buckets: two n-grams of one short text in one bucket is all but impossible.
        assert sorted(times.tolist()) == expected


def test_a_text_has_the_same_ngrams_in_any_company(monkeypatch: pytest.MonkeyPatch) -> None:
    together, counts = count_ngrams(SCRIPTS)
    monkeypatch.setattr(ngrams, "_BLOCK", 2)
    apart, again = count_ngrams(SCRIPTS)
    assert np.array_equal(together.values, apart.values)
    assert np.array_equal(together.offsets, apart.offsets)
    assert np.array_equal(counts, again)
    alone, _ = count_ngrams(SCRIPTS[3:4])
    assert np.array_equal(alone.values, together[3])


def test_case_width_and_spaces_make_no_difference() -> None:
    found, _ = count_ngrams(["ＡＢＣ  Def", "abc def", " abc\ndef "])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[1], found[2])


def test_scores_are_mean_cosines_of_weighted_counts() -> None:
    titles = ["abc abc abd", "abd xyz", "xyz xyw", "", "abc"]
    impressions = shown([[0, 2, 3, 4]], [DAY], histories=[[1, 3, 4]])
    texts = texts_of(titles)
    scores = TfIdf.fit(texts, sizes=(2, 3), bits=22).score(impressions, only_news(None))  # type: ignore[arg-type]
    counts = [by_hand(t, (2, 3)) if t else Counter() for t in titles]
    df = Counter(g for c in counts for g in c)
    n = sum(map(bool, titles))

    def row(c: Counter[str]) -> dict[str, float]:
        w = {g: (1 + np.log(k)) * (np.log((1 + n) / (1 + df[g])) + 1) for g, k in c.items()}
        norm = np.sqrt(sum(v * v for v in w.values()))
        return {g: v / norm for g, v in w.items()}

    x = [row(c) for c in counts]
    expected = [
        np.mean([sum(x[c].get(g, 0) * v for g, v in x[h].items()) for h in (1, 4)])
        for c in (0, 2, 3, 4)
    ]
    assert np.allclose(scores, expected, atol=1e-6)
    assert scores[2] == 0


@pytest.mark.parametrize("text", SCRIPTS)
def test_the_article_that_shares_words_wins_in_every_script(text: str) -> None:
    titles = [text, text[: len(text) * 2 // 3], *(s for s in SCRIPTS if s != text)]
    impressions = shown([list(range(1, len(titles)))], [DAY], histories=[[0]])
    scores = TfIdf.fit(texts_of(titles)).score(impressions, only_news(None))  # type: ignore[arg-type]
    assert scores.argmax() == 0
    assert scores[0] > 3 * scores[1:].max()


def test_the_history_may_be_another_text_in_another_language() -> None:
    shelf = texts_of(["Merkel in Helsinki", "silta Oulussa", "sää tänään"])
    history = texts_of(["Angela Merkel besucht", "", ""], "deu")
    impressions = shown([[0, 1, 2]], [DAY], histories=[[0, 1]])
    scores = TfIdf.fit(shelf, history).score(impressions, only_news(None))  # type: ignore[arg-type]
    assert scores.argmax() == 0
    assert scores[0] > 0.1


def test_small_blocks_score_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_answer(np.random.default_rng(0), empty=0.2)
    ranker = TfIdf.fit(topic_texts(known.news, np.random.default_rng(1)))
    expected = ranker.score(known.impressions, known.features)
    monkeypatch.setattr("newsrec.rank.tfidf._BLOCK", 3)
    assert np.array_equal(ranker.score(known.impressions, known.features), expected)


def test_a_corpus_without_any_text_ties() -> None:
    impressions: Impressions = shown([[0, 1]], [DAY], histories=[[0]])
    scores = TfIdf.fit(texts_of(["", ""])).score(impressions, only_news(None))  # type: ignore[arg-type]
    assert scores.tolist() == [0, 0]


def test_misuse_is_named() -> None:
    with pytest.raises(ConfigError, match="expected sizes >= 1 and 8 to 26 bits"):
        TfIdf.fit(texts_of(["a"]), bits=40)
    with pytest.raises(DataError, match="candidate row 5, but TF-IDF was fitted on 1 texts"):
        TfIdf.fit(texts_of(["a"])).score(shown([[5]], [DAY]), only_news(None))  # type: ignore[arg-type]
    assert len(count_ngrams([])[0]) == 0
    assert isinstance(count_ngrams([])[0], Ragged)
