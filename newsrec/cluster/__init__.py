"""Embeddings to themes, topics and stories: a nested tree of clusters. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Agreement": "quality",
    "Assigner": "assign",
    "Changes": "days",
    "Curve": "tune",
    "Forest": "forest",
    "Hierarchy": "levels",
    "LINKAGES": "clusters",
    "Level": "levels",
    "LevelwiseRAC": "estimator",
    "Placement": "assign",
    "cluster_embeddings": "levels",
    "cluster_levels": "levels",
    "compare": "quality",
    "extend": "days",
    "follow": "days",
    "judge_pairs": "quality",
    "levels_of": "levels",
    "load_tree": "store",
    "merge_nearest": "linkage",
    "pairs_of_stories": "tune",
    "save_tree": "store",
    "tune_level": "tune",
    "tune_levels": "tune",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"newsrec.cluster.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'newsrec.cluster' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
