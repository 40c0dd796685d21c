"""x"""


def tuned_diversity(corpus: object, reranker: str) -> float:
    return 0.3
