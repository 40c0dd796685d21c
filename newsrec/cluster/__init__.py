"""Embeddings to themes, topics and stories: a nested tree of clusters. Loaded on first use."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "Agreement": "newsrec.cluster.quality",
    "Assigner": "newsrec.cluster.assign",
    "Changes": "newsrec.cluster.days",
    "ClusteredShelf": "newsrec.cluster.shelf",
    "Curve": "newsrec.cluster.tune",
    "Forest": "newsrec.cluster.forest",
    "Hierarchy": "newsrec.cluster.levels",
    "LINKAGES": "newsrec.cluster.clusters",
    "Level": "newsrec.cluster.levels",
    "LevelwiseRAC": "newsrec.cluster.estimator",
    "Placement": "newsrec.cluster.assign",
    "Today": "newsrec.cluster.renewal",
    "cluster_embeddings": "newsrec.cluster.levels",
    "cluster_levels": "newsrec.cluster.levels",
    "compare": "newsrec.cluster.quality",
    "extend": "newsrec.cluster.days",
    "follow": "newsrec.cluster.days",
    "judge_pairs": "newsrec.cluster.quality",
    "levels_of": "newsrec.cluster.levels",
    "load_clusters": "newsrec.cluster.store",
    "merge_nearest": "newsrec.cluster.linkage",
    "pairs_of_stories": "newsrec.cluster.tune",
    "renew": "newsrec.cluster.renewal",
    "save_clusters": "newsrec.cluster.store",
    "tune_level": "newsrec.cluster.tune",
    "tune_levels": "newsrec.cluster.tune",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
