"""What a shelf can show: candidates without text in its language are taken off the list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types.impressions import Impressions
from newsrec.types.ragged import Ragged


def keep_shown(
    impressions: Impressions,
    present_candidates: NDArray[np.bool_],
    present_history: NDArray[np.bool_],
    complete_only: bool = False,
) -> tuple[Impressions, NDArray[np.int64], dict[str, int]]:
    """The impressions a shelf can serve: ``(impressions, rows (k,) of the input, counts)``.

    ``present_candidates``, ``present_history (n_news,) bool``: which articles have text in the
    shelf's and in the reader's language. A candidate without text is dropped; an impression left
    without a click or without a non-click is skipped (without labels: one left without
    candidates). Histories are not cut. ``complete_only`` keeps only impressions whose candidates
    were all present and which have at least one history item present (protocol §1).

    ``counts``: ``impressions``, ``kept``, ``candidates``, ``candidates_without_text``, and each
    skipped impression once, under the first that holds of ``skipped_without_candidates``,
    ``skipped_incomplete``, ``skipped_without_click``, ``skipped_without_non_click``; of those kept,
    ``kept_without_history`` have no history item with text.
    """
    for name, mask in (("candidates", present_candidates), ("history", present_history)):
        if mask.dtype != np.bool_ or mask.ndim != 1:
            raise DataError(f"present_{name}: {mask.dtype} {mask.shape}, expected bool (n_news,)")
    shown = present_candidates[impressions.candidates.values]
    known = count_true(impressions.history, present_history[impressions.history.values])
    has_history = known[impressions.history_of] > 0
    n_shown = count_true(impressions.candidates, shown)
    reasons = {"skipped_without_candidates": n_shown == 0}
    if complete_only:
        whole = n_shown == impressions.candidates.lengths
        reasons["skipped_incomplete"] = ~(whole & has_history)
    if impressions.clicked is not None:
        n_clicked = count_true(impressions.candidates, shown & impressions.clicked)
        reasons["skipped_without_click"] = n_clicked == 0
        reasons["skipped_without_non_click"] = n_clicked == n_shown
    keep = np.ones(len(impressions), np.bool_)
    counts = {
        "impressions": len(impressions),
        "candidates": len(shown),
        "candidates_without_text": int(np.count_nonzero(~shown)),
    }
    for name, holds in reasons.items():
        counts[name] = int(np.count_nonzero(keep & holds))
        keep &= ~holds
    rows = np.flatnonzero(keep)
    counts["kept"] = len(rows)
    counts["kept_without_history"] = int(np.count_nonzero(~has_history[rows]))
    kept = impressions.take(rows)
    return kept.keep_candidates(shown[impressions.candidates.positions(rows)]), rows, counts


def count_true(lists: Ragged, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of ``mask (nnz,)`` hold in each list, ``(n,)``; empty lists are 0."""
    running = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
    return np.asarray(running[lists.offsets[1:]] - running[lists.offsets[:-1]])
