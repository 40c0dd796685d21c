"""Folders of trained rankers: which ranker is meant, without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from newsrec.errors import DataError, StaleCacheError
from newsrec.rank.trained import ranker_folder, sealed, trained


def make(folder: Path, **fields: object) -> Path:
    folder.mkdir(parents=True)
    inputs = {"views": ["title"], "encoder": {"name": "mini"}}
    body = {"format": "newsrec-ranker", "version": 1, "head": "naml", "inputs": inputs,
            "made": {"encoder": {"name": "labse"}, "trainable": "none"}, **fields}  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(sealed(body)))
    return folder


def test_a_ranker_is_found_in_its_own_folder_its_run_its_family_and_its_training(
    tmp_path: Path,
) -> None:
    for seed in (42, 43):
        make(tmp_path / "all" / "eng-full" / f"seed{seed}" / "best")
    family = tmp_path / "all" / "eng-full"
    assert ranker_folder(family / "seed43" / "best") == family / "seed43" / "best"
    assert ranker_folder(family / "seed43", 42) == family / "seed43" / "best"
    assert ranker_folder(family, 43) == family / "seed43" / "best"
    assert ranker_folder(family) == family / "seed42" / "best"
    assert ranker_folder(tmp_path / "all", 43) == family / "seed43" / "best"


def test_what_is_missing_is_said_with_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such folder.*newsrec train"):
        ranker_folder(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"no manifest\.json"):
        ranker_folder(tmp_path)
    for family in ("eng-full", "eng-10-shots"):
        make(tmp_path / family / "seed42" / "best")
    with pytest.raises(DataError, match="seed 44, but of 42"):
        ranker_folder(tmp_path / "eng-full", 44)
    with pytest.raises(
        DataError, match="several trained rankers, name one: eng-10-shots, eng-full"
    ):
        ranker_folder(tmp_path)


def test_what_a_manifest_says_is_read_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    found = trained(make(tmp_path / "a"))
    assert (found.head, found.views, found.encoder) == ("naml", ("title",), {"name": "labse"})
    assert found.encoder_at(None) is None
    made = {"encoder": {"name": "labse"}, "trainable": "last4"}
    tuned = trained(make(tmp_path / "tuned", made=made))
    with pytest.raises(StaleCacheError, match="the encoder that was tuned along is not there"):
        tuned.encoder_at(42)
    (tmp_path / "tuned" / "encoder").mkdir()
    assert tuned.encoder_at(42) == tmp_path / "tuned" / "encoder"
    unnamed = trained(make(tmp_path / "b", made={}))
    assert unnamed.encoder == {"name": "mini"}  # of the spec
    with pytest.raises(StaleCacheError, match="not a ranker's manifest"):
        trained(make(tmp_path / "c", inputs=None))
    with pytest.raises(StaleCacheError, match="version 7"):
        trained(make(tmp_path / "d", version=7))
    with pytest.raises(DataError, match="format is not"):
        trained(make(tmp_path / "e", format="else"))


def test_looking_at_a_folder_loads_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from newsrec.rank.trained import trained\n"
        "trained(Path(sys.argv[1])); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, make(tmp_path / "a")], check=True)
