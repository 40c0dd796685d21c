"""MIND's leaderboard file: the rank of every candidate of every unlabelled impression."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.evaluate.metrics import Ranking
from newsrec.files import atomic_file
from newsrec.types import Impressions

MEMBER = "prediction.txt"
_BLOCK = 20_000
# A fixed date (the first that zip can hold), so that equal scores give equal bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def write_submission(
    path: Path,
    scores: NDArray[np.floating],
    impressions: Impressions,
) -> None:
    """Write ``scores (nnz,)`` as ``prediction.zip``: `MEMBER` with a line per impression.

    A line is ``id [r1,r2,…]``: the 1-based rank of each candidate in the order in which it was
    shown (https://msnews.github.io, "Submission format"). Ties as in `Ranking`.
    """
    ranks = Ranking.of(scores, impressions).ranks()
    offsets = impressions.candidates.offsets
    words = [str(rank) for rank in range(int(ranks.max(initial=0)) + 1)]
    member = zipfile.ZipInfo(MEMBER, _DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    with (
        atomic_file(path) as file,
        zipfile.ZipFile(file, "w") as archive,
        archive.open(member, "w", force_zip64=True) as raw,
        io.TextIOWrapper(raw, "utf-8", newline="\n") as out,
    ):
        for first in range(0, len(impressions), _BLOCK):
            ends = offsets[first : first + _BLOCK + 1].tolist()
            start = ends[0]
            block = [words[rank] for rank in ranks[start : ends[-1]].tolist()]
            ids = impressions.ids[first : first + _BLOCK].tolist()
            out.writelines(
                f"{name} [{','.join(block[a - start : b - start])}]\n"
                for name, a, b in zip(ids, ends, ends[1:], strict=False)
            )
