"""Real clicks on a real cross-lingual shelf: what `newsrec evaluate --langs cmn` must show."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsrec.config import parse_config
from newsrec.corpus import MindOptions, prepare_mind
from newsrec.pipeline import experiment


@pytest.mark.shared
def test_mini_leads_random_clearly_on_mandarin_clicks(shared_data: Path, tmp_path: Path) -> None:
    corpus, _ = prepare_mind(shared_data / "mind", tmp_path / "corpus", MindOptions())
    config = parse_config(
        {
            "corpus": str(corpus.folder),
            "langs": ["cmn"],
            "rankers": ["fusion", "random"],
            "metrics": ["ndcg@10"],
        }
    )
    results = experiment(config)
    mini, chance = (report.mean()["ndcg@10"] for report in results.reports)
    assert len(results.reports[0].values[0]) == 1643
    assert mini - chance >= 0.08
    test = next(t for t in results.tests if t.ranker == "random")
    assert test.found.p < 0.001
