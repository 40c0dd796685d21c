"""The nouns: frozen, slotted, checked once when made; numpy only.

A news article is a row number. Language is a property of vectors and texts, never of clicks.
"""

from newsrec.types.clusters import ClusterTree
from newsrec.types.embeddings import Embeddings, EmbeddingSpec, EncoderSpec, Features
from newsrec.types.impressions import Impressions
from newsrec.types.news import NewsTable
from newsrec.types.pool import Pool
from newsrec.types.provenance import Provenance
from newsrec.types.ragged import Ragged
from newsrec.types.summary import Article, Summary
from newsrec.types.texts import Strings, Texts

__all__ = [
    "Article",
    "ClusterTree",
    "EmbeddingSpec",
    "Embeddings",
    "EncoderSpec",
    "Features",
    "Impressions",
    "NewsTable",
    "Pool",
    "Provenance",
    "Ragged",
    "Strings",
    "Summary",
    "Texts",
]
