"""Rankers by name: what each needs is checked, unknown names and options are answered."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import ConfigError
from newsrec.rank import RANKERS, ClickLog, Given, LateFusion, Random, make_ranker
from tests.synthetic import known_answer, popular_log, topic_texts


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_is_made_by_name_and_scores(name: str, tmp_path: Path) -> None:
    known = known_answer(np.random.default_rng(0))
    np.save(tmp_path / "s.npy", np.ones(len(known.impressions.candidates.values), np.float32))
    given = Given(
        seed=4,
        clicks=ClickLog.of(popular_log(known)),
        texts=topic_texts(known.news, np.random.default_rng(1)),
        listed=known.impressions,
    )
    options = {"file": str(tmp_path / "s.npy")} if name == "scores" else {}
    scores = make_ranker(name, given, **options).score(known.impressions, known.features)
    assert scores.shape == known.impressions.candidates.values.shape


def test_options_and_the_seed_reach_the_ranker() -> None:
    fusion = make_ranker("fusion", Given(), centre="none", history_limit=3)
    assert isinstance(fusion, LateFusion)
    assert (fusion.centre, fusion.history_limit) == ("none", 3)
    assert make_ranker("random", Given(seed=7)) == Random(7)


def test_errors_come_from_the_table() -> None:
    with pytest.raises(ConfigError, match=r"unknown ranker 'fuson'; known: .*random.*'fusion'"):
        make_ranker("fuson", Given())
    with pytest.raises(ConfigError, match=r"unknown option of ranker 'fusion' 'center'.*'centre'"):
        make_ranker("fusion", Given(), center="none")
    with pytest.raises(ConfigError, match="ranker 'popularity' needs clicks"):
        make_ranker("popularity", Given())
    with pytest.raises(ConfigError, match="ranker 'tfidf' needs texts"):
        make_ranker("tfidf", Given())
    with pytest.raises(ConfigError, match="ranker 'scores' needs listed"):
        make_ranker("scores", Given(), file="s.npy")


def test_the_stage_loads_nothing_heavy() -> None:
    code = (
        "import sys, newsrec.rank as r\n"
        "assert 'numpy' not in sys.modules\n"
        "[getattr(r, name) for name in r.__all__ if name not in r._TRAINED]\n"
        "heavy = {'faiss', 'scipy', 'torch', 'pandas', 'sklearn', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
