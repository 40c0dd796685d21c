"""A real MLflow server on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.track.recorded import free_port


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`mlflow server` with its own SQLite file; stopped at the end."""
    folder, port = tmp_path_factory.mktemp("mlflow"), free_port()
    uri = f"http://127.0.0.1:{port}"
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(
        [
            sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
            "--backend-store-uri", f"sqlite:///{folder / 'server.db'}",
            "--artifacts-destination", str(folder / "artifacts"), "--workers", "1",
        ],
        stdout=log, stderr=log, cwd=folder, start_new_session=True,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
    )  # fmt: skip
    try:
        for _ in range(600):
            if process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{uri}/health", timeout=5) as answer:
                    if answer.status == 200:
                        yield uri
                        return
            except OSError:
                time.sleep(0.2)
        pytest.fail("mlflow server did not start:\n" + (folder / "server.log").read_text())
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()
