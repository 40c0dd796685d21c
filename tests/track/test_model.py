"""A trained ranker as an MLflow model: the same scores, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.errors import DataError
from newsrec.rank import save_means, save_ranker
from newsrec.track import save_pyfunc, tracking_training
from tests.pipeline.worlds import World, as_texts, sample_world, some_of_test, trained
from tests.track.recorded import runs_of

_LOAD = """
import json, sys
import mlflow, pandas
uri, model, rows = sys.argv[1:]
mlflow.set_tracking_uri(uri)
rows = json.load(open(rows))
loaded = mlflow.pyfunc.load_model(model)
found = loaded.predict(pandas.DataFrame(rows))
assert loaded.predict(rows) == found
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The bundled sample and the built-in encoder."""
    return sample_world(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def best(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a trained ranker."""
    folder = tmp_path_factory.mktemp("run") / "best"
    save_ranker(folder, trained(world, "naml"))
    save_means(folder, world.means)
    return folder


def _asked(world: World, history: str, shelf: str) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Rows of a table, and what the ranker itself gives the same articles, ``(nnz,)``."""
    impressions = some_of_test(world, 5)
    rows = as_texts(world, impressions, history, shelf)
    wanted = trained(world, "naml").score(impressions, world.features(history, shelf))
    return [{"history": read, "candidates": shown} for read, shown in rows], wanted


def _loaded(uri: str, model: str, rows: list[Any], folder: Path) -> list[list[float]]:
    """Scores from a fresh process, in a folder that has nothing of newsrec."""
    (folder / "rows.json").write_text(json.dumps(rows), "utf-8")
    where = [str(Path(one).resolve()) for one in sys.path if one and Path(one).exists()]
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, uri, model, str(folder / "rows.json")],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(where)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[list[float]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def test_a_logged_model_scores_to_the_last_bit_in_a_fresh_process(
    server: str, world: World, best: Path, tmp_path: Path
) -> None:
    with tracking_training(server, "as a model", {}, pytest.fail) as tracker:
        tracker.begin("run", {})
        tracker.trained(best)
        tracker.end()
    child = runs_of(server, "as a model")[1][0]
    rows, wanted = _asked(world, "fin", "eng")
    found = _loaded(server, f"runs:/{child.info.run_id}/pyfunc", rows, tmp_path)
    assert [len(one) for one in found] == [len(row["candidates"]) for row in rows]
    assert np.array_equal(np.concatenate(found).astype(np.float32), wanted)
    assert len(np.unique(wanted)) > 5


def test_nothing_is_pickled(best: Path, tmp_path: Path) -> None:
    save_pyfunc(tmp_path / "model", best)
    files = {x.relative_to(tmp_path / "model").as_posix() for x in _files(tmp_path / "model")}
    assert files == {
        "MLmodel", "conda.yaml", "python_env.yaml", "requirements.txt", "input_example.json",
        "serving_input_example.json", "pyfunc.py", "artifacts/best/manifest.json",
        "artifacts/best/means.safetensors", "artifacts/best/weights.safetensors",
    }  # fmt: skip


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_saved_model_takes_tables_mappings_and_its_own_example(
    world: World, best: Path, tmp_path: Path
) -> None:
    import mlflow.pyfunc
    import pandas

    from newsrec import __version__

    save_pyfunc(tmp_path / "model", best)
    requirements = (tmp_path / "model" / "requirements.txt").read_text("utf-8").split()
    assert f"newsrec=={__version__}" in requirements
    moved = (tmp_path / "model").rename(tmp_path / "moved")
    loaded = mlflow.pyfunc.load_model(str(moved))
    rows, wanted = _asked(world, "eng", "eng")
    for given in (rows, pandas.DataFrame(rows)):
        scores = np.concatenate(loaded.predict(given)).astype(np.float32)
        assert np.array_equal(scores, wanted)
    assert loaded.predict(rows[0]) == loaded.predict(rows[:1])
    assert loaded.predict({"history": [], "candidates": ["one", "two"]}) == [[0, 0]]
    assert loaded.predict({"history": ["one"], "candidates": []}) == [[]]
    assert [len(one) for one in loaded.predict(loaded.input_example)] == [2]
    plain = loaded.predict({"history": ["a storm"], "candidates": ["a ferry"]})
    told = {"title": "a ferry", "language": "en"}
    assert loaded.predict({"history": ["a storm"], "candidates": [told]}) == plain
    bad = {"title": "a", "language": "xx-nowhere"}
    with pytest.raises(DataError, match=r"^row 1, candidates\[0\]: unknown language 'xx-nowhere'"):
        loaded.predict([rows[0], {"history": ["a"], "candidates": [bad]}])


def test_a_saved_model_answers_as_mlflow_serves_it(
    world: World, best: Path, tmp_path: Path
) -> None:
    """The scoring server's own reading of a request, and its own answer."""
    import mlflow.pyfunc
    from mlflow.pyfunc.scoring_server import invocations

    save_pyfunc(tmp_path / "model", best)
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    rows, wanted = _asked(world, "eng", "fin")

    def ask(body: Any) -> Any:
        answer = invocations(
            json.dumps(body), "application/json", loaded, loaded.metadata.get_input_schema()
        )
        assert answer.status == 200, answer.response
        return json.loads(answer.response)["predictions"]

    for body in ({"inputs": rows}, {"dataframe_records": rows}):
        assert np.array_equal(np.concatenate(ask(body)).astype(np.float32), wanted)
    example = (tmp_path / "model" / "serving_input_example.json").read_text("utf-8")
    assert [len(one) for one in ask(json.loads(example))] == [2]
