"""Names: what each preset stands for, what is not a name, and a hub that does not answer."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from newsrec.encode import load_encoder
from newsrec.encode.presets import BUILT_IN, POOLINGS, PRESETS, names
from newsrec.errors import ConfigError, DataError, MissingExtra

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_names_of_the_readme_are_there() -> None:
    assert names() == [
        "mini", "nase", "labse", "me5-base", "me5-large", "gte-multilingual-base",
        "paraphrase-multilingual-mpnet",
    ]  # fmt: skip
    assert BUILT_IN not in PRESETS


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_complete(name: str) -> None:
    preset = PRESETS[name]
    assert preset.repo.count("/") == 1
    assert preset.pooling in POOLINGS
    assert 0 < preset.max_tokens <= 512
    assert list(preset.levels) == sorted(preset.levels)


def test_conventions_are_those_of_the_papers() -> None:
    nase = PRESETS["nase"]
    assert (nase.pooling, nase.normalize, nase.max_tokens) == ("pooler", False, 96)
    assert not nase.pipeline
    assert PRESETS["labse"].normalize
    assert PRESETS["labse"].pipeline
    for name in ("me5-base", "me5-large"):
        mine = PRESETS[name]
        assert (mine.prefix, mine.pooling, mine.normalize) == ("query: ", "mean", True)


def test_remote_code_must_be_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"Alibaba-NLP/gte-multilingual-base runs Python code"):
        load_encoder("gte-multilingual-base")


@pytest.mark.parametrize("name", ["./nothing", "/no/thing", "nase=/no/thing", "", "~/no-thing/"])
def test_a_folder_that_is_not_there_is_told(name: str) -> None:
    with pytest.raises(DataError, match="no such model folder"):
        load_encoder(name)


def test_a_preset_that_does_not_exist_is_told() -> None:
    with pytest.raises(ConfigError, match=r"unknown encoder preset 'nasa'.*Did you mean 'nase'"):
        load_encoder("nasa=/tmp")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"precision": "fp17"}, "unknown precision 'fp17'.*'fp16'"),
        ({"backend": "tensorflow"}, "unknown backend"),
        ({"batch_size": 0}, "batch_size: 0, expected at least 1"),
        ({"pooling": "median"}, "unknown pooling 'median'"),
        ({"poolin": "mean"}, "unknown encoder option 'poolin'.*'pooling'"),
    ],
)
def test_unknown_options_are_told(tmp_path: Path, options: dict, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_encoder(str(tmp_path), **options)


@pytest.mark.parametrize("options", [{"precision": "int8"}, {"pooling": "cls"}])
def test_the_built_in_encoder_has_no_such_options(options: dict) -> None:
    with pytest.raises(ConfigError, match=f"no option '{next(iter(options))}'"):
        load_encoder("mini", **options)


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_a_backend_that_is_not_installed_names_the_extra(
    tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=rf"pip install 'sentence-transformers\[{backend}\]'"):
        load_encoder(str(tmp_path), backend=backend)


def ask(code: str, cache: Path, endpoint: str) -> str:
    """Run ``code`` where the hub is ``endpoint``; returns what it printed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRANSFORMERS_"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env={**clean, "HF_ENDPOINT": endpoint, "HF_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=60,  # one try takes a second or two; a storm of retries takes over a minute
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOAD = """
import newsrec.encode.hub as hub
hub.TIMEOUT_S = 0.5
from newsrec.encode import load_encoder
from newsrec.errors import NewsrecError
try:
    load_encoder({name!r})
except NewsrecError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def nobody() -> str:
    """A port of this machine where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize(
    ("name", "repo", "use"),
    [
        ("nase", "aiana94/NaSE", "`nase=FOLDER`"),
        ("some/model", "some/model", "`FOLDER`"),
        ("labes", "sentence-transformers/labes", "did you mean 'labse'?"),
    ],
)
def test_a_hub_that_cannot_be_reached_is_one_clear_line(
    tmp_path: Path, nobody: str, name: str, repo: str, use: str
) -> None:
    said = ask(LOAD.format(name=name), tmp_path, nobody)
    assert said.startswith(f"DataError {name}: no such folder; tried {nobody}/{repo} at 'main'")
    assert said.count("\n") == 1
    for part in (str(tmp_path), f"hf download {repo} --local-dir FOLDER", use):
        assert part in said


def test_a_hub_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert "DataError labse: no such folder; tried" in ask(
            LOAD.format(name="labse"), tmp_path, endpoint
        )


def cached(home: Path, repo: str, commit: str, *files: str) -> Path:
    """A repository in the hub's cache, as a download leaves it."""
    folder = home / "hub" / f"models--{repo.replace('/', '--')}"
    snapshot = folder / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(commit)
    for file in files:
        (snapshot / file).write_text("{}")
    return snapshot


def test_without_the_hub_the_cache_is_used(tmp_path: Path, nobody: str) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = cached(tmp_path, "some/model", commit, "config.json", "model.safetensors")
    code = "from newsrec.encode.hub import fetch; print(*fetch('some/model', 'some/model', 'main'))"
    assert ask(code, tmp_path, nobody).split() == [str(snapshot), commit]


def test_loading_a_name_loads_no_torch_before_it_is_needed() -> None:
    code = (
        "import sys, newsrec.encode; from newsrec.encode import EmbeddingStore, load_encoder\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'}\n"
        "assert not heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)
