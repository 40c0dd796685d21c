"""Results as flat names and numbers."""

from __future__ import annotations

import re

from newsrec.evaluate.results import SOURCE, Results


def metric_key(name: str) -> str:
    """A name that MLflow takes: ``ndcg@10`` becomes ``ndcg_at_10``, other signs ``_``."""
    return re.sub(r"[^/\w.\- ]", "_", name.replace("@", "_at_"))


def averages(results: Results) -> dict[str, float]:
    """``eng/ndcg@10``, ``avg/…``, ``delta/…``, ``worst/…``; with several systems behind theirs."""
    found: dict[str, float] = {}
    for system in results.systems:
        prefix = "" if len(results.systems) == 1 else f"{' '.join(system)}/"
        by_language = results.of_system(system)
        names = dict.fromkeys(name for _, means in by_language.values() for name in means)
        for name in names:
            for language, (_, means) in by_language.items():
                if name in means:
                    found[f"{prefix}{language}/{name}"] = means[name].mean
            summary = results.summary(system, name)
            # Without any other language the average is that of the source itself.
            only = summary["source"] if set(by_language) == {SOURCE} else summary["average"]
            found[f"{prefix}avg/{name}"] = only
            found[f"{prefix}delta/{name}"] = summary["delta"]
            found[f"{prefix}worst/{name}"] = summary["worst"][1]
    return found
