"""The diversity that a corpus can bear, as ``newsrec tune-diversity`` left it.

``data/tuned/diversity-FINGERPRINT.json``, one per corpus, the newest run's::

    {"format": 1, "corpus": fingerprint, "corpus_name", "split", "loss": 0.02,
     "encoder": "mini", "ranker": "fusion", "language": "cmn" or "eng,fin",
     "diversity": {"mmr": 0.3, "xquad:aspect=topic": 0.5},
     "measured": {"mmr": {"cmn": {"ndcg@10", "own_order", "difference", "low", "high", "p", "n"}}},
     "clusters": what the tree was made from, {} without one, "provenance"}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from newsrec.corpus import Corpus
from newsrec.errors import StaleCacheError
from newsrec.files import data_root, write_json

FORMAT = 1


def tuned_path(corpus: Corpus) -> Path:
    """Where the diversities of a corpus are kept."""
    return data_root() / "tuned" / f"diversity-{corpus.fingerprint}.json"


def write_tuned(path: Path, found: Mapping[str, Any]) -> None:
    """Write the fields of the module's docstring but ``format``, at once or not at all."""
    write_json(path, {"format": FORMAT, **found})


def tuned_diversity(corpus: Corpus, reranker: str, encoder: str | None = None) -> float | None:
    """The largest diversity (1 - relevance weight) of ``reranker`` within the loss that was tuned
    for; None where ``corpus`` was not tuned, or without that re-ranker, or with another encoder.

    ``reranker`` as ``--rerank`` names it, its options in any order: ``xquad:aspect=topic``;
    ``encoder``: label of the encoder in use, None: any. `StaleCacheError` for a damaged file.
    """
    path = tuned_path(corpus)
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT or found["corpus"] != corpus.fingerprint:
            raise ValueError(f"format {found['format']} of corpus {found['corpus']}")
        known = {_key(name): float(value) for name, value in found["diversity"].items()}
        wrong = [value for value in known.values() if not 0 <= value <= 1]
        if wrong:
            raise ValueError(f"a diversity of {wrong[0]}")
        if encoder is not None and found["encoder"] != encoder:
            return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StaleCacheError(
            f"{path}: not diversities of this corpus ({error}); measure them again: newsrec "
            f"tune-diversity --corpus {corpus.folder}"
        ) from error
    return known.get(_key(reranker))


def _key(label: str) -> tuple[str, ...]:
    name, *options = label.split(":")
    return name, *sorted(options)
