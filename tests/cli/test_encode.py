"""`newsrec encode`, as it is called."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from newsrec.cli.app import main
from newsrec.corpus.sample import LANGUAGES, open_sample
from newsrec.encode import load_encoder
from newsrec.encode.lines import BLOCK, count_lines, encode_lines
from newsrec.encode.static import write
from newsrec.errors import DataError
from tests.encode import models
from tests.encode.made import HashEncoder


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small built-in encoder."""
    folder = tmp_path_factory.mktemp("static") / "table"
    pieces = [("<unk>", 0.0), *((f"▁{word}", -5.0) for word in models.WORDS)]
    pieces += [(letter, -9.0) for letter in "▁aeinorst"]
    table = np.random.default_rng(0).standard_normal((len(pieces), 32)).astype(np.float32)
    write(folder, table, pieces, {}, (8, 16, 32))
    return f"mini={folder}"


class Said:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def newsrec(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    def run(*arguments: object, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "argv", ["newsrec", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Said(code, *capsys.readouterr())

    return run


def test_it_fills_the_store_and_says_what_it_did(newsrec, static: str) -> None:  # type: ignore[no-untyped-def]
    corpus = open_sample().folder
    said = newsrec("encode", "--corpus", corpus, "--encoder", static, "--lang", "fin, eng")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert [line[:4] for line in lines] == ["fin:", "eng:"]
    for line in lines:
        assert "72 encoded, 0 reused, 72 of 72 articles, 32 dimensions" in line
        vectors = np.load(line.rsplit(", ", 1)[1], mmap_mode="r")
        assert vectors.shape == (72, 32)
    again = newsrec("encode", "--corpus", corpus, "--encoder", static, "--lang", "all")
    assert "fin: 0 encoded, 72 reused" in again.out
    assert [line[:3] for line in again.out.splitlines()] == list(LANGUAGES)
    forced = newsrec("encode", "--corpus", corpus, "--encoder", static, "--lang", "fin", "--force")
    assert "fin: 72 encoded, 0 reused" in forced.out


def test_a_view_and_a_precision_go_into_other_files(newsrec, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    model = models.bert(tmp_path / "bert", vocab_size=205)
    options = ["--corpus", open_sample().folder, "--encoder", model, "--lang", "fin"]
    files = set()
    for more in ([], ["--precision", "int8"], ["--view", "title"]):
        said = newsrec("encode", *options, *more)
        assert "72 encoded" in said.out, said.err
        files.add(said.out.rsplit(", ", 1)[1])
    assert len(files) == 3


def test_it_mends_a_damaged_file_with_the_command_it_names(newsrec, static: str) -> None:  # type: ignore[no-untyped-def]
    options = ["--corpus", open_sample().folder, "--encoder", static, "--lang", "fin"]
    path = Path(newsrec("encode", *options).out.rsplit(", ", 1)[1].strip())
    path.write_bytes(path.read_bytes()[:-1])
    said = newsrec("encode", *options)
    assert said.code == 3
    assert newsrec(*_named_in(said.err)).code == 0
    assert "0 encoded" in newsrec("encode", *options).out


def _named_in(error: str) -> list[str]:
    """The words of the command that an error names, after ``newsrec``."""
    return shlex.split(error[error.index("newsrec encode ") :])[1:]


def test_a_damaged_matrix_of_a_named_corpus_is_mended_by_the_command_verbatim(  # type: ignore[no-untyped-def]
    newsrec, static: str, tmp_path: Path
) -> None:
    folder = tmp_path / "my corpus's"
    shutil.copytree(open_sample().folder, folder)
    stored = Path(os.environ["NEWSREC_DATA"]) / "embeddings"
    commands = {
        "recommend": ["--user", "U123", "--lang", "fin", "--encoder", static],
        "evaluate": ["--langs", "fin", "--encoder", static, "--no-track", "--metrics", "auc"],
    }
    for command, words in commands.items():
        asked = [command, "--corpus", folder, *words]
        assert newsrec(*asked).code == 0
        (path,) = stored.glob("*/fin-*/vectors.npy")
        path.write_bytes(path.read_bytes()[:-1])
        said = newsrec(*asked)
        assert said.code == 3
        assert shlex.quote(str(folder)) in said.err
        assert "72 encoded" in newsrec(*_named_in(said.err)).out
        assert newsrec(*asked).code == 0


def test_the_command_names_the_options_of_the_encoder(newsrec, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    model = models.bert(tmp_path / "bert", vocab_size=205)
    options = ["--encoder", f"{model}:pooling=max", "--lang", "fin", "--precision", "int8"]
    path = Path(newsrec("encode", *options).out.rsplit(", ", 1)[1].strip())
    path.write_bytes(path.read_bytes()[:-1])
    command = _named_in(newsrec("encode", *options).err)
    assert f"{model}:pooling=max:precision=int8" in command
    assert "72 encoded" in newsrec(*command).out
    assert "72 reused" in newsrec("encode", *options).out


TEXT = b"\xef\xbb\xbfw1 w2\r\n\nw3 w4\n  w5\xe2\x80\xa8w6"
LINES = ["w1 w2", "", "w3 w4", "  w5\u2028w6"]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_plain_file_is_one_text_a_line(newsrec, static: str, tmp_path: Path, end: bytes) -> None:  # type: ignore[no-untyped-def]
    source, target = tmp_path / "texts.txt", tmp_path / "new" / "vectors.npy"
    source.write_bytes(TEXT + end)
    said = newsrec("encode", "--input", source, "--output", target, "--encoder", static)
    assert (said.code, said.err) == (0, "")
    assert said.out == f"{target}: 4 texts, 32 dimensions\n"
    vectors = np.load(target, allow_pickle=False)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, load_encoder(static).encode(LINES))
    assert count_lines(source) == 4


def test_standard_input_is_read_for_a_dash(newsrec, static: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / "vectors.npy"
    options = ["--output", target, "--encoder", static, "--lang", "fi"]
    said = newsrec("encode", "--input", "-", *options, stdin=TEXT)
    assert said.code == 0, said.err
    assert np.array_equal(np.load(target), load_encoder(static).encode(LINES))


def test_no_lines_are_no_vectors(newsrec, static: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / "vectors.npy"
    assert newsrec("encode", "--input", "-", "--output", target, "--encoder", static).code == 0
    assert np.load(target).shape == (0, 32)


def test_a_line_that_is_not_utf8_is_named_and_nothing_is_written(  # type: ignore[no-untyped-def]
    newsrec, static: str, tmp_path: Path
) -> None:
    source, target = tmp_path / "texts.txt", tmp_path / "vectors.npy"
    source.write_bytes(b"good\n" * 5000 + b"ab\xe9cd\n")
    target.write_bytes(b"what was there")
    said = newsrec("encode", "--input", source, "--output", target, "--encoder", static)
    assert said.code == 3
    assert f"{source}:5001: byte 3 of the line is 0xe9, not UTF-8" in said.err
    assert target.read_bytes() == b"what was there"
    assert sorted(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "give --lang .* or --input"),
        (["--corpus", "c", "--input", "t", "--output", "v.npy"], 2, "either --corpus"),
        (["--input", "t", "--output", "v"], 2, "--output: v, expected a name that ends in .npy"),
        (["--input", "t"], 2, "--input and --output belong together"),
        (["--corpus", "c", "--lang", "fin", "--output", "v.npy"], 2, "belong together"),
        (["--corpus", "c"], 2, "give --lang"),
        (["--input", "no-such-file", "--output", "v.npy"], 3, "no-such-file: no such file"),
        (["--input", ".", "--output", "v.npy"], 3, "a folder, expected one text a line"),
        (["--corpus", "no-such-folder", "--lang", "fin"], 3, "no such folder"),
        (["--input", "-", "--output", "v.npy", "--lang", "xx!"], 2, "unknown language 'xx!'"),
        (
            ["--input", "-", "--output", "v.npy", "--precision", "half"],
            2,
            "unknown precision 'half'",
        ),
        (["--input", "-", "--output", "v.npy", "--encoder", "./no"], 3, "no such model folder"),
    ],
)
def test_bad_use_ends_in_one_line(newsrec, arguments: list, code: int, said: str) -> None:  # type: ignore[no-untyped-def]
    import re

    ended = newsrec("encode", *arguments)
    assert ended.code == code
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert re.search(said, ended.err)


@pytest.mark.parametrize("name", ["texts.npy", "link.npy"])
def test_the_input_is_never_the_output(newsrec, tmp_path: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    source = tmp_path / "texts.npy"
    source.write_bytes(TEXT)
    (tmp_path / "link.npy").symlink_to(source)
    said = newsrec("encode", "--input", source, "--output", tmp_path / name)
    assert (said.code, said.out) == (2, "")
    assert "is the --input" in said.err
    assert source.read_bytes() == TEXT
    assert (tmp_path / "link.npy").is_symlink()


def test_a_language_the_corpus_lacks_is_told(newsrec, static: str) -> None:  # type: ignore[no-untyped-def]
    corpus = open_sample().folder
    ended = newsrec("encode", "--corpus", corpus, "--encoder", static, "--lang", "fin,deu")
    assert ended.code == 2
    assert "'deu'" in ended.err
    assert ended.out == ""  # nothing is encoded before all is known to be there


def test_help_names_every_option(newsrec) -> None:  # type: ignore[no-untyped-def]
    ended = newsrec("encode", "--help")
    assert ended.code == 0
    assert "NEWSREC_CORPUS" in ended.out
    for option in ("--corpus", "--input", "--lang", "--force", "--trust-remote-code"):
        assert option in ended.out


def test_a_long_file_is_encoded_in_blocks(tmp_path: Path) -> None:
    encoder = HashEncoder()
    blocks: list[int] = []
    encode = encoder.encode
    encoder.encode = lambda texts: blocks.append(len(texts)) or encode(texts)  # type: ignore[method-assign,func-returns-value]
    n = 2 * BLOCK + 3
    calls: list[tuple[int, int]] = []
    lines = (f"{i}\n".encode() for i in range(n))
    made = encode_lines(
        encoder, lines, tmp_path / "v.npy", total=n, on_progress=lambda *call: calls.append(call)
    )
    assert made == (n, 8)
    assert blocks == [BLOCK, BLOCK, 3]
    assert calls == [(BLOCK, n), (2 * BLOCK, n), (n, n)]
    vectors = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert np.array_equal(vectors[[0, BLOCK, n - 1]], encode(["0", str(BLOCK), str(n - 1)]))


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file is a file, expected a folder"):
        encode_lines(HashEncoder(), [b"a\n"], tmp_path / "file" / "v.npy")
