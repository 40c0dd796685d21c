"""What goes into an encoder and what comes out, checked once."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.protocols import Encoder

_SURROGATE = re.compile("[\ud800-\udfff]")  # not text: no tokenizer and no UTF-8 takes them


def as_texts(texts: Sequence[str]) -> list[str]:
    """``texts`` as a list of strings that every tokenizer takes; `DataError` names the first that
    is not a string."""
    if isinstance(texts, str | bytes):
        raise DataError(f"texts: one {type(texts).__name__}, expected a list of str")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(
                f"texts[{i}]: {type(text).__name__}, expected str. Replace missing texts by ''."
            )
    return [_SURROGATE.sub("\ufffd", text) for text in texts]


def vectors_of(encoder: Encoder, texts: list[str]) -> NDArray[np.float32]:
    """``encoder.encode(texts)``, ``(n, dim) float32``; `DataError` unless it keeps its word."""
    found = np.asarray(encoder.encode(texts), np.float32)
    expected = (len(texts), encoder.spec.dim)
    if found.shape != expected:
        raise DataError(f"{encoder.spec.name}: vectors {found.shape}, expected {expected}")
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(bad):
        raise DataError(
            f"{encoder.spec.name}: the vector of a text of {len(texts[bad[0]])} characters is not "
            f"finite (precision {encoder.spec.precision}); try precision 'fp32'"
        )
    return found
