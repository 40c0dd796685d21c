"""A folder of a trained ranker as an MLflow model that takes articles and returns scores.

"Models from code": MLflow keeps a script and the folder, and nothing is pickled.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from newsrec.rank.trained import ranker_folder
from newsrec.track.runs import Runs, quiet

#: Where a child run has the folder itself, and the name of the MLflow model.
FOLDER, PYFUNC = "model", "pyfunc"

# Run by MLflow where the model is saved and loaded, never imported: it stands above this layer.
_SCRIPT = Path(__file__).parents[1] / "pipeline" / "pyfunc.py"
_LOGGED = "newsrec.model"
_SMALL = 1 << 20
_EXAMPLE = {
    "history": [
        {"title": "Ferry service resumes after the storm", "abstract": "", "language": "eng"},
    ],
    "candidates": [
        {"title": "The harbour opens a second pier", "abstract": "", "language": "eng"},
        {"title": "A quiet evening for the city's orchestra", "abstract": "", "language": "eng"},
    ],
}


def save_pyfunc(path: Path, ranker: Path, mlflow_model: Any = None) -> None:
    """The ranker in the folder ``ranker`` (as `newsrec.rank.load_ranker` finds it) as an MLflow
    model in the new folder ``path``, to be loaded by ``mlflow.pyfunc.load_model``.

    It takes a table, or a list of mappings, with columns ``history`` and ``candidates``: lists of
    articles as in `newsrec.pipeline.score_articles`. It returns a list of scores a row. Its
    configuration may name a ``device``, and say ``trust_remote_code`` for an encoder that runs code
    of its repository. An encoder that is a local folder, and was not tuned, is looked for where it
    was. Whatever MLflow raises is passed on.
    """
    quiet()
    import mlflow.pyfunc
    from mlflow.models import ModelSignature
    from mlflow.types.schema import AnyType, Array, ColSpec, DataType, Schema

    from newsrec import __version__

    # An article is a text or a mapping, which no type of MLflow's but this one says.
    articles = Array(AnyType())
    inputs = Schema([ColSpec(articles, "history"), ColSpec(articles, "candidates")])
    with _silent():
        mlflow.pyfunc.save_model(
            path=str(path),
            mlflow_model=mlflow_model,
            python_model=str(_SCRIPT),
            artifacts={"ranker": str(ranker_folder(ranker))},
            signature=ModelSignature(inputs, Schema([ColSpec(Array(DataType.float))])),
            input_example=[_EXAMPLE],
            pip_requirements=[f"newsrec=={__version__}"],
            model_config={"device": None, "trust_remote_code": False},
        )


def log_model(runs: Runs, run: str, folder: Path) -> None:
    """The folder of a ranker as artifact and as MLflow model of ``run``, unless it is there
    already. Belongs inside a guarded block."""
    folder = ranker_folder(folder)
    client, digest = runs.client, _digest(folder)
    if client.get_run(run).data.tags.get(_LOGGED) == digest:
        return
    client.log_artifacts(run, str(folder), FOLDER)
    _log_pyfunc(runs, run, folder)
    client.set_tag(run, _LOGGED, digest)


def _log_pyfunc(runs: Runs, run: str, folder: Path) -> None:
    """As ``mlflow.pyfunc.log_model``, without a run and a server that a whole process shares."""
    from mlflow.entities import LoggedModelOutput
    from mlflow.models import Model

    client = runs.client
    known = f"name = '{PYFUNC}' AND source_run_id = '{run}'"
    for old in client.search_logged_models([runs.experiment], known):
        client.delete_logged_model(old.model_id)
    made = client.create_logged_model(runs.experiment, name=PYFUNC, source_run_id=run)
    status = "FAILED"
    try:
        with tempfile.TemporaryDirectory(prefix="newsrec-") as work:
            told = Model(
                artifact_path=made.artifact_location, run_id=run, model_id=made.model_id,
                model_uuid=made.model_id,
            )  # fmt: skip
            save_pyfunc(Path(work) / PYFUNC, folder, told)
            client.log_model_artifacts(made.model_id, str(Path(work) / PYFUNC))
        status = "READY"
    finally:
        client.finalize_logged_model(made.model_id, status)
    client.log_outputs(run, [LoggedModelOutput(made.model_id, step=0)])


def _digest(folder: Path) -> str:
    """Of how large every file is, and of the bytes of small ones: manifests have the checksums of
    the weights."""
    total = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        total.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
        if size <= _SMALL:
            total.update(path.read_bytes())
    return total.hexdigest()[:32]


@contextmanager
def _silent() -> Iterator[None]:
    """MLflow's advice on how to save a model is not for those who train one."""
    log = logging.getLogger("mlflow")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
