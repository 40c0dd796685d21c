"""Embeddings to themes, topics and stories: a nested tree of clusters. Loaded on first use."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "Agreement": "newsrec.cluster.quality",
    "articles_of": "newsrec.cluster.articles",
    "Assigner": "newsrec.cluster.assign",
    "Changes": "newsrec.cluster.days",
    "class_weights": "newsrec.cluster.keywords",
    "cluster_embeddings": "newsrec.cluster.levels",
    "cluster_keywords": "newsrec.cluster.keywords",
    "cluster_levels": "newsrec.cluster.levels",
    "ClusteredShelf": "newsrec.cluster.shelf",
    "compare": "newsrec.cluster.quality",
    "count_words": "newsrec.cluster.keywords",
    "Curve": "newsrec.cluster.tune",
    "extend": "newsrec.cluster.days",
    "Extractive": "newsrec.cluster.extract",
    "follow": "newsrec.cluster.days",
    "Forest": "newsrec.cluster.forest",
    "Hierarchy": "newsrec.cluster.levels",
    "judge_pairs": "newsrec.cluster.quality",
    "Keyword": "newsrec.cluster.keywords",
    "Label": "newsrec.cluster.label",
    "label_clusters": "newsrec.cluster.label",
    "Labeller": "newsrec.cluster.label",
    "Level": "newsrec.cluster.levels",
    "levels_of": "newsrec.cluster.levels",
    "LevelwiseRAC": "newsrec.cluster.estimator",
    "LINKAGES": "newsrec.cluster.clusters",
    "load_clusters": "newsrec.cluster.store",
    "make_summarizer": "newsrec.cluster.summarise.table",
    "merge_nearest": "newsrec.cluster.linkage",
    "pairs_of_stories": "newsrec.cluster.tune",
    "Placement": "newsrec.cluster.assign",
    "renew": "newsrec.cluster.renewal",
    "save_clusters": "newsrec.cluster.store",
    "segmentation": "newsrec.cluster.segment",
    "split_sentences": "newsrec.cluster.sentences",
    "stop_words": "newsrec.cluster.stopwords",
    "SUMMARIZERS": "newsrec.cluster.summarise.table",
    "Today": "newsrec.cluster.renewal",
    "tune_level": "newsrec.cluster.tune",
    "tune_levels": "newsrec.cluster.tune",
    "WordCounts": "newsrec.cluster.keywords",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
