"""Article traits for RADio, from arrays that the owner of the articles made."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.errors import DataError
from newsrec.types import Ragged


def load_traits(path: Path) -> dict[str, object]:
    """A ``.npz`` with ``affect (n_news,)`` and, as ``NAME_values`` and ``NAME_offsets``, the lists
    ``viewpoints`` and ``minority`` (see `newsrec.evaluate.radio`), in the order of the news table.

    Raises `DataError` for a file that is none or holds anything else.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot be read as .npz ({error})") from None
    traits: dict[str, Any] = {}
    if "affect" in found:
        traits["affect"] = found.pop("affect")
    for name in ("viewpoints", "minority"):
        values, offsets = found.pop(f"{name}_values", None), found.pop(f"{name}_offsets", None)
        if (values is None) != (offsets is None):
            raise DataError(f"{path}: expected both {name}_values and {name}_offsets")
        if values is not None and offsets is not None:
            traits[name] = Ragged(values, offsets.astype(np.int64))
    if found:
        known = "affect, viewpoints_values, viewpoints_offsets, minority_values, minority_offsets"
        raise DataError(f"{path}: unknown array {min(found)!r}, expected {known}")
    return traits
