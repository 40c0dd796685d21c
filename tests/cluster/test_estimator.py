"""The scikit-learn manner: fit, labels_, clone, pipelines; no scikit-learn inside."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from newsrec.cluster import Level, LevelwiseRAC, cluster_levels
from newsrec.errors import ConfigError, DataError
from tests.cluster.made import news_like


def test_fit_gives_the_finest_labels_and_the_tree() -> None:
    vectors, _ = news_like(200, 32, np.random.default_rng(0))
    model = LevelwiseRAC((0.4, 0.6), (8, 32)).fit(vectors)
    tree = cluster_levels(vectors, (Level(8, 0.4), Level(32, 0.6))).tree
    assert np.array_equal(model.tree_.labels, tree.labels)
    assert np.array_equal(model.labels_, tree.labels[-1])
    assert np.array_equal(LevelwiseRAC((0.4, 0.6), (8, 32)).fit_predict(vectors), model.labels_)
    assert model.n_features_in_ == 32
    assert LevelwiseRAC((0.4, 0.6)).fit(vectors).tree_.dims == (32, 32)


def test_predict_finds_the_cluster_of_what_was_fitted() -> None:
    vectors, _ = news_like(200, 64, np.random.default_rng(1), noise=0.2)
    model = LevelwiseRAC((0.5, 0.6), (16, 64)).fit(vectors)
    labels = model.labels_.copy()
    assert np.mean(model.predict(vectors) == labels) > 0.95
    far = np.zeros((1, 64))
    far[0, 0] = -1
    assert model.predict(far).tolist() == [-1]
    assert np.array_equal(model.labels_, labels)
    with pytest.raises(ConfigError, match="call fit first"):
        LevelwiseRAC().predict(vectors)
    for wrong in (vectors[:, :32], np.hstack([vectors, vectors])):
        with pytest.raises(DataError, match="columns, fitted on 64"):
            model.predict(wrong)


def test_scikit_learn_can_clone_it_and_put_it_behind_other_steps() -> None:
    vectors, _ = news_like(100, 32, np.random.default_rng(2))
    model = LevelwiseRAC(thresholds=(0.3, 0.7), linkage="centroid")
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert model.set_params(linkage="average").linkage == "average"
    with pytest.raises(ConfigError, match="unknown option 'linkge'"):
        model.set_params(linkge="average")
    steps = make_pipeline(FunctionTransformer(), LevelwiseRAC((0.3, 0.7)))
    assert np.array_equal(steps.fit_predict(vectors), model.fit(vectors).labels_)


def test_lists_and_whole_numbers_are_fine() -> None:
    assert LevelwiseRAC((0.5,)).fit([[1, 0], [2, 0], [0, 1]]).labels_.tolist() == [0, 0, 1]


def test_it_reads_like_the_call_that_makes_it() -> None:
    assert repr(LevelwiseRAC((0.5,), linkage="centroid")).startswith(
        "LevelwiseRAC(thresholds=(0.5,), dims=None, linkage='centroid'"
    )


def test_scikit_learn_is_not_loaded() -> None:
    code = (
        "import sys, numpy as np\n"
        "from newsrec.cluster import LevelwiseRAC\n"
        "LevelwiseRAC((0.5,)).fit(np.eye(3))\n"
        "assert not {'sklearn', 'scipy', 'torch', 'faiss'} & {m.split('.')[0] for m in sys.modules}"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e25])
def test_the_length_of_rows_decides_nothing_however_long(scale: float) -> None:
    vectors, _ = news_like(80, 16, np.random.default_rng(3))
    expected = LevelwiseRAC().fit(vectors).labels_
    assert np.array_equal(LevelwiseRAC().fit(vectors * np.float32(scale)).labels_, expected)
    wide = vectors.astype(np.float64) * scale**7
    assert np.array_equal(LevelwiseRAC().fit(wide).labels_, expected)


def test_scikit_learn_knows_it_as_a_clusterer() -> None:
    from sklearn.base import is_clusterer

    assert is_clusterer(LevelwiseRAC())


def test_what_is_no_matrix_of_vectors_is_refused() -> None:
    from scipy.sparse import csr_array

    for wrong in (np.ones(3), np.array([["a", "b"]]), csr_array(np.eye(3))):
        with pytest.raises(DataError, match="X: "):
            LevelwiseRAC().fit(wrong)
    with pytest.raises(ConfigError, match=r"thresholds: 0\.5"):
        LevelwiseRAC(thresholds=0.5).fit(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="whole numbers"):
        LevelwiseRAC(thresholds=(0.1, 0.2), dims=(1.5, 3)).fit(np.eye(3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"thresholds": None}, {"thresholds": np.float32(0.4)}, {"dims": 16}, {"dims": "16"}]
)
def test_one_value_is_not_several(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="expected several, coarse to fine"):
        LevelwiseRAC(**options).fit(np.eye(16))  # type: ignore[arg-type]


def test_rows_of_different_lengths_are_told() -> None:
    with pytest.raises(DataError, match="rows of different lengths"):
        LevelwiseRAC().fit([[1.0, 0.0], [1.0]])
