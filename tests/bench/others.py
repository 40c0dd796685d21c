"""Mini-batch k-means, HDBSCAN and BERTopic on the vectors that ours gets.

BERTopic needs umap-learn and hdbscan; it runs in a process of its own, by the interpreter that the
environment variable `BERTOPIC_PYTHON` names, or by this one where it is installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from newsrec.types.embeddings import unit_rows

Vectors = NDArray[np.floating]
Labels = NDArray[np.int64]
#: Vectors, texts, seed, smallest topics to try.
Job = tuple[Vectors, Sequence[str], int, Sequence[int]]

_BERTOPIC = """
import json, sys
import numpy as np
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from hdbscan import HDBSCAN
from umap import UMAP

class Done(BaseDimensionalityReduction):
    def __init__(self, reduced):
        self.reduced = reduced
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return self.reduced

folder = sys.argv[1]
jobs = json.load(open(folder + "/jobs.json"))
for number, (seed, sizes) in enumerate(jobs):
    vectors = np.load(f"{folder}/{number}.npy")
    texts = json.load(open(f"{folder}/{number}.json"))
    # BERTopic's own defaults; reduced once for all sizes.
    reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine",
                   low_memory=False, random_state=seed).fit_transform(vectors)
    found = {}
    for size in sizes:
        clusters = HDBSCAN(min_cluster_size=size, metric="euclidean",
                           cluster_selection_method="eom", prediction_data=True)
        model = BERTopic(umap_model=Done(reduced), hdbscan_model=clusters, embedding_model=None)
        topics, _ = model.fit_transform(texts, vectors)
        found[f"{size}"] = topics
        if -1 in topics and max(topics) >= 0:
            topics = model.reduce_outliers(
                texts, topics, strategy="embeddings", embeddings=vectors)
        found[f"{size}, outliers to the nearest topic"] = topics
    np.savez(f"{folder}/{number}.npz", **{k: np.asarray(v, np.int64) for k, v in found.items()})
"""


def kmeans(vectors: Vectors, k: int, seed: int) -> Labels:
    """Mini-batch k-means told the true number of clusters; batches of 32 as in paper 000."""
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(min(k, len(vectors)), batch_size=32, n_init=3, random_state=seed)
    return np.asarray(model.fit_predict(unit_rows(vectors)), np.int64)


def hdbscan(vectors: Vectors, size: int) -> Labels:
    """HDBSCAN of unit vectors, clusters of at least ``size``; -1 is its noise."""
    from sklearn.cluster import HDBSCAN

    return np.asarray(HDBSCAN(min_cluster_size=size, copy=True).fit_predict(unit_rows(vectors)))


def bertopic_python() -> str | None:
    """The interpreter that has BERTopic, if any."""
    named = os.environ.get("BERTOPIC_PYTHON")
    return named or (sys.executable if find_spec("bertopic") else None)


def bertopic(jobs: Sequence[Job]) -> list[dict[str, Labels]]:
    """Labels of each job, by what was tried."""
    python = bertopic_python()
    if python is None:
        raise RuntimeError("BERTopic is not installed; set BERTOPIC_PYTHON or install bertopic")
    with TemporaryDirectory() as folder:
        for number, (vectors, texts, _, _) in enumerate(jobs):
            np.save(f"{folder}/{number}.npy", unit_rows(vectors))
            with open(f"{folder}/{number}.json", "w", encoding="utf-8") as file:
                json.dump(list(texts), file)
        with open(f"{folder}/jobs.json", "w", encoding="utf-8") as file:
            json.dump([(seed, list(sizes)) for _, _, seed, sizes in jobs], file)
        done = subprocess.run(
            [python, "-c", _BERTOPIC, folder], check=False, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"BERTopic failed:\n{done.stderr[-2000:]}")
        return [dict(np.load(f"{folder}/{number}.npz")) for number in range(len(jobs))]
