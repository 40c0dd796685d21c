"""How good the vectors of an encoder are: bitext retrieval and zero-shot topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def unit(vectors: Floats, dim: int | None = None) -> Floats:
    """The first `dim` columns of ``(n, d)``, each row divided by its length (zero rows stay)."""
    part = vectors[:, :dim]
    length = np.linalg.norm(part, axis=1, keepdims=True)
    return np.asarray(part / np.where(length > 0, length, 1), np.float32)


def bitext_accuracy(queries: Floats, pool: Floats) -> float:
    """Percentage of rows i of ``queries (n, d)`` whose nearest row of ``pool (m >= n, d)`` is i.

    Nearest by cosine; of equals the first. Artetxe and Schwenk 2019 (Tatoeba).
    """
    if not len(queries):
        return float("nan")
    nearest = (unit(queries) @ unit(pool).T).argmax(1)
    return 100 * float((nearest == np.arange(len(queries))).mean())


def bitext_pairs(vectors: Mapping[str, Floats]) -> dict[tuple[str, str], float]:
    """`bitext_accuracy` of every ordered pair of languages; all ``(n, d)``, aligned by row."""
    return {(a, b): bitext_accuracy(vectors[a], vectors[b]) for a, b in permutations(vectors, 2)}


class TopicClassifier:
    """Multinomial logistic regression with an L2 penalty, fitted by L-BFGS.

    ``vectors (n, d)``, ``labels (n,)`` strings. The penalty is half the squared weights against the
    summed loss, C = 1 in the words of scikit-learn, whose default it is.
    """

    def __init__(self, vectors: Floats, labels: Sequence[str]) -> None:
        from scipy.optimize import minimize

        penalty = 1 / max(len(vectors), 1)

        self.names = sorted(set(labels))
        target = np.array([self.names.index(label) for label in labels])
        data = np.hstack([vectors, np.ones((len(vectors), 1), np.float32)]).astype(np.float64)
        shape = (data.shape[1], len(self.names))
        hot = np.eye(len(self.names))[target]

        def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = flat.reshape(shape)
            logits = data @ weights
            logits -= logits.max(1, keepdims=True)
            log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
            penalised = weights * (np.arange(shape[0]) < shape[0] - 1)[:, None]
            value = -(hot * log_p).sum() / len(data) + penalty / 2 * (penalised**2).sum()
            slope = data.T @ (np.exp(log_p) - hot) / len(data) + penalty * penalised
            return float(value), slope.ravel()

        found = minimize(loss, np.zeros(np.prod(shape)), jac=True, method="L-BFGS-B",
                         options={"maxiter": 500})  # fmt: skip
        self._weights: NDArray[np.float64] = found.x.reshape(shape)

    def accuracy(self, vectors: Floats, labels: Sequence[str]) -> float:
        """Percentage of ``vectors (n, d)`` put under their own label."""
        logits = vectors @ self._weights[:-1] + self._weights[-1]
        guessed = [self.names[i] for i in logits.argmax(1)]
        return 100 * float(np.mean([g == t for g, t in zip(guessed, labels, strict=True)]))


def topic_transfer(
    english: tuple[Floats, Sequence[str]],
    others: Mapping[str, tuple[Floats, Sequence[str]]],
) -> dict[str, float]:
    """Accuracy in each language of a classifier that saw English labels only (SIB-200)."""
    classifier = TopicClassifier(*english)
    return {code: classifier.accuracy(*texts) for code, texts in others.items()}
