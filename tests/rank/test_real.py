"""On real clicks and a real Mandarin shelf: text beats chance, and the laws hold there too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.corpus import Corpus, prepare_mind
from newsrec.rank import LateFusion, Random, TfIdf
from newsrec.rank.ngrams import count_ngrams
from newsrec.types import Features, Impressions, Texts
from newsrec.types.shelf import keep_shown
from tests.contracts.test_rankers import auc
from tests.synthetic import VIEW, embeddings

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def corpus(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return prepare_mind(shared_data / "mind", tmp_path_factory.mktemp("mind") / "corpus")[0]


@pytest.fixture(scope="module")
def texts(corpus: Corpus) -> Texts:
    return corpus.texts("cmn")


@pytest.fixture(scope="module")
def impressions(corpus: Corpus, texts: Texts) -> Impressions:
    """Those with a shown click, a shown non-click and something read."""
    kept, _, _ = keep_shown(corpus.impressions("test"), texts.present, texts.present)
    read = np.bincount(
        kept.history.owner(), texts.present[kept.history.values], minlength=len(kept.history)
    )
    return kept.take(np.flatnonzero(read[kept.history_of] > 0))


@pytest.fixture(scope="module")
def hashed(corpus: Corpus, texts: Texts) -> Features:
    """Random projections of bigram counts: an encoder of nothing, for shapes and laws."""
    found, counts = count_ngrams(texts.view(VIEW), sizes=(2,), bits=12)
    table = np.random.default_rng(0).standard_normal((1 << 12, 32)).astype(np.float32)
    vectors = np.zeros((len(texts), 32), np.float32)
    rows = np.repeat(texts.rows, found.lengths)
    np.add.at(vectors, rows, counts[:, None] * table[found.values])
    e = embeddings(vectors, language="cmn", present=np.asarray(texts.present))
    return Features(corpus.news, {VIEW: e}, {VIEW: e})


def test_ngrams_of_chinese_beat_chance_by_far(
    corpus: Corpus, texts: Texts, impressions: Impressions
) -> None:
    assert len(impressions) == 1611
    features = Features(corpus.news, {}, {})
    read = auc(impressions, TfIdf.fit(texts).score(impressions, features))
    drawn = auc(impressions, Random(0).score(impressions, features))
    difference = read - drawn
    error = difference.std() / np.sqrt(len(difference))
    assert difference.mean() > 5 * error
    assert abs(drawn.mean() - 0.5) < 4 * drawn.std() / np.sqrt(len(drawn))


def test_blocks_equal_a_loop_over_impressions(impressions: Impressions, hashed: Features) -> None:
    scores = LateFusion(centre="none").score(impressions, hashed)
    e = hashed.candidates[VIEW]
    expected = []
    for i in range(len(impressions)):
        read = impressions.history[int(impressions.history_of[i])]
        reader = e.vectors[read[e.present[read]][-50:]].mean(0)
        expected.append(e.vectors[impressions.candidates[i]] @ reader)
    assert np.allclose(scores, np.concatenate(expected), atol=1e-6)


def test_a_part_of_the_log_scores_the_same(impressions: Impressions, hashed: Features) -> None:
    whole = LateFusion().score(impressions, hashed)
    rows = np.random.default_rng(1).permutation(len(impressions))[:300]
    part = LateFusion().score(impressions.take(rows), hashed)
    assert np.array_equal(part, whole[impressions.candidates.positions(rows)])
