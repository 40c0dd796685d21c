"""The clustering in scikit-learn's manner, without scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.assign import Assigner
from newsrec.cluster.levels import Hierarchy, cluster_levels, levels_of
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.types.clusters import ClusterTree, Labels


class LevelwiseRAC:
    """``LevelwiseRAC(thresholds=(0.4, 0.6, 0.75)).fit(X).labels_``

    ``thresholds``: one a level, coarse to fine; ``dims``: leading dimensions that each level looks
    at (default: all at every level; for Matryoshka vectors say d/4, d/2, d); ``linkage``
    ``average`` or ``centroid``; ``direction`` ``refine`` or ``merge``; ``any_order`` allows
    thresholds that do not rise.

    After ``fit``: ``labels_ (n,)`` of the finest level, ``tree_`` (all levels), ``hierarchy_``
    (with the merges), ``n_features_in_``. Also fits where BERTopic expects an ``hdbscan_model``;
    give it vectors that were not reduced, since the similarity is the cosine.
    """

    _estimator_type = "clusterer"

    def __init__(
        self,
        thresholds: Sequence[float] = (0.4, 0.6, 0.75),
        dims: Sequence[int] | None = None,
        linkage: str = "average",
        direction: str = "refine",
        any_order: bool = False,
    ) -> None:
        self.thresholds = thresholds
        self.dims = dims
        self.linkage = linkage
        self.direction = direction
        self.any_order = any_order

    def fit(self, X: Any, y: Any = None) -> LevelwiseRAC:
        """Cluster the rows of ``X (n, dim)``; ``y`` is not looked at."""
        vectors = _matrix(X)
        _check_several("thresholds", self.thresholds)
        if self.dims is not None:
            _check_several("dims", self.dims)
        dims = [vectors.shape[1]] * len(self.thresholds) if self.dims is None else self.dims
        levels = levels_of(self.thresholds, dims, any_order=self.any_order)
        self.hierarchy_: Hierarchy = cluster_levels(
            vectors, levels, linkage=self.linkage, direction=self.direction
        )
        self.tree_: ClusterTree = self.hierarchy_.tree
        self.labels_: Labels = self.tree_.labels[-1]
        self.n_features_in_ = vectors.shape[1]
        self._vectors = vectors
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """``labels_`` of ``X``."""
        return self.fit(X, y).labels_

    def predict(self, X: Any) -> Labels:
        """The finest cluster that each row of ``X`` would join, -1 where it would open a new one.

        Every row is judged by itself; what was fitted does not change.
        """
        if not hasattr(self, "tree_"):
            raise ConfigError("this LevelwiseRAC has not been fitted; call fit first")
        vectors = _matrix(X)
        if vectors.shape[1] != self.n_features_in_:
            raise DataError(
                f"X: {vectors.shape[1]} columns, fitted on {self.n_features_in_}; "
                "expected vectors of the same encoder"
            )
        assigner = Assigner(self.tree_, self._vectors, linkage=self.linkage)
        return np.array([assigner.look(row)[-1] for row in vectors], np.int32)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn (1.6 and later) asks of an estimator; only it calls this."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="clusterer", target_tags=TargetTags(required=False))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **options: Any) -> LevelwiseRAC:
        """Set options by name; `ConfigError` for an unknown one."""
        for name, value in options.items():
            if name not in self.get_params():
                raise unknown_name("option", name, tuple(self.get_params()))
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"LevelwiseRAC({options})"


def _check_several(name: str, given: Any) -> None:
    """`ConfigError` unless ``given`` is a list of one value a level."""
    if (
        isinstance(given, str)
        or not isinstance(given, (Sequence, np.ndarray))
        or np.ndim(given) != 1
    ):
        raise ConfigError(f"{name}: {given!r}, expected several, coarse to fine")


def _matrix(X: Any) -> NDArray[np.floating]:
    """``X (n, dim)`` as floats; `DataError` for anything else."""
    if hasattr(X, "toarray"):
        raise DataError("X: a sparse matrix, expected a dense array (n, dim) of vectors")
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise DataError(
            f"X: rows of different lengths, expected numbers (n, dim): {error}"
        ) from None
    if values.ndim != 2 or values.dtype.kind not in "fiu":
        raise DataError(f"X: {values.dtype} {values.shape}, expected numbers (n, dim)")
    return values if np.issubdtype(values.dtype, np.floating) else values.astype(np.float32)
