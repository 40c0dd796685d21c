"""The real loading code on small models with random weights, saved to disk as real ones are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

import newsrec.encode.precision as precision
import newsrec.encode.sentence as sentence
from newsrec.encode import load_encoder
from newsrec.errors import ConfigError, DataError, MissingExtra
from newsrec.types.embeddings import unit_rows
from tests.encode import models

TEXTS = [*models.sentences(20), ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain BERT, 128 positions."""
    return models.bert(tmp_path_factory.mktemp("m") / "bert", max_position_embeddings=128)


@pytest.fixture(scope="module")
def labse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline with LaBSE's shape."""
    return models.pipeline(tmp_path_factory.mktemp("m") / "labse")


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain XLM-R with 34 positions, of which 33 are for tokens."""
    return models.xlm_roberta(tmp_path_factory.mktemp("m") / "xlmr")


def by_hand(folder: Path, texts: list[str], pool: Callable, max_tokens: int = 512) -> np.ndarray:
    """``pool(output, mask)`` of transformers alone, one text at a time."""
    model, tokenizer = (
        AutoModel.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    rows = []
    for text in texts:
        inputs = tokenizer(text, truncation=True, max_length=max_tokens, return_tensors="pt")
        with torch.no_grad():
            output = model(inputs["input_ids"], inputs["attention_mask"])
        rows.append(pool(output).numpy()[0])
    return np.stack(rows)


POOLED: dict[str, Callable] = {
    "pooler": lambda output: output.pooler_output,
    "cls": lambda output: output.last_hidden_state[:, 0],
    "mean": lambda output: output.last_hidden_state.mean(1),
    "max": lambda output: output.last_hidden_state.max(1).values,
    "lasttoken": lambda output: output.last_hidden_state[:, -1],
}


@pytest.mark.parametrize("pooling", POOLED)
def test_a_plain_folder_is_pooled_as_asked(folder: Path, pooling: str) -> None:
    encoder = load_encoder(str(folder), pooling=pooling)
    assert encoder.spec.pooling == pooling
    hand = by_hand(folder, TEXTS, POOLED[pooling])
    assert np.allclose(encoder.encode(TEXTS), hand, atol=1e-5)


def test_nase_is_the_raw_pooler_output_of_96_tokens(folder: Path) -> None:
    encoder = load_encoder(f"nase={folder}")
    texts = [*TEXTS, " ".join(models.WORDS)]
    hand = by_hand(folder, texts, POOLED["pooler"], max_tokens=96)
    assert np.allclose(encoder.encode(texts), hand, atol=1e-5)
    spec = encoder.spec
    assert (spec.name, spec.pooling, spec.max_tokens) == ("nase", "pooler", 96)
    assert (spec.normalized, spec.prefix, spec.levels) == (False, "", (32,))


def test_nase_does_not_follow_a_pipeline_that_lies_beside_its_weights(labse: Path) -> None:
    assert load_encoder(f"nase={labse}").spec.pooling == "pooler"


def test_a_pipeline_is_used_as_it_is(labse: Path) -> None:
    model = SentenceTransformer(str(labse), device="cpu")
    for name in (str(labse), f"labse={labse}"):
        encoder = load_encoder(name)
        assert np.allclose(encoder.encode(TEXTS), model.encode(TEXTS), atol=1e-5)
        assert encoder.spec.pooling == "cls+dense+normalize"
        assert encoder.spec.normalized


def test_a_pipeline_without_normalise_gets_it_where_the_preset_has_it(tmp_path: Path) -> None:
    bare = models.pipeline(tmp_path / "bare", normalize=False)
    assert not load_encoder(str(bare)).spec.normalized
    labse = load_encoder(f"labse={bare}")
    assert labse.spec.normalized
    assert np.allclose(np.linalg.norm(labse.encode(TEXTS), axis=1), 1, atol=1e-5)


def test_a_pooling_asked_for_replaces_the_pipeline(labse: Path) -> None:
    encoder = load_encoder(str(labse), pooling="mean", normalize=False)
    assert np.allclose(encoder.encode(TEXTS), by_hand(labse, TEXTS, POOLED["mean"]), atol=1e-5)


def test_labse_without_its_pipeline_is_the_normalised_pooler(folder: Path) -> None:
    hand = unit_rows(by_hand(folder, TEXTS, POOLED["pooler"]))
    assert np.allclose(load_encoder(f"labse={folder}").encode(TEXTS), hand, atol=1e-5)


def test_me5_puts_its_prefix_before_every_text(xlmr: Path) -> None:
    encoder = load_encoder(f"me5-base={xlmr}")
    texts = [f"query: {text}" for text in TEXTS]
    hand = unit_rows(by_hand(xlmr, texts, POOLED["mean"], max_tokens=33))
    assert np.allclose(encoder.encode(TEXTS), hand, atol=1e-5)
    assert encoder.spec.prefix == "query: "


def test_a_pipelines_own_prompt_is_its_prefix(tmp_path: Path) -> None:
    folder = models.pipeline(tmp_path / "prompted")
    path = folder / "config_sentence_transformers.json"
    config = json.loads(path.read_text())
    config |= {"prompts": {"news": "w1 w2 "}, "default_prompt_name": "news"}
    path.write_text(json.dumps(config))
    encoder = load_encoder(str(folder))
    assert encoder.spec.prefix == "w1 w2 "
    model = SentenceTransformer(str(folder), device="cpu")
    assert np.allclose(encoder.encode(TEXTS), model.encode(TEXTS), atol=1e-5)


def test_positions_that_count_from_the_padding_index_are_not_overrun(xlmr: Path) -> None:
    encoder = load_encoder(str(xlmr))
    assert encoder.spec.max_tokens == 33
    long = " ".join(models.WORDS)
    hand = by_hand(xlmr, [long], POOLED["mean"], max_tokens=33)
    assert np.allclose(encoder.encode([long]), hand, atol=1e-5)


def test_identical_texts_go_through_the_model_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = load_encoder(str(folder))
    passed: list[int] = []
    real = sentence.padded

    def counted(tokens: list, pad: int, *, left: bool) -> tuple:
        passed.append(len(tokens))
        return real(tokens, pad, left=left)

    monkeypatch.setattr(sentence, "padded", counted)
    encoder.encode(TEXTS * 5)
    assert sum(passed) == len(set(TEXTS))


@pytest.mark.parametrize(("wanted", "least"), [("int8", 0.98), ("bf16", 0.999)])
@pytest.mark.parametrize("pooling", ["mean", "pooler"])
def test_coarser_arithmetic_stays_close(
    folder: Path, wanted: str, least: float, pooling: str
) -> None:
    exact = unit_rows(load_encoder(str(folder), pooling=pooling, precision="fp32").encode(TEXTS))
    encoder = load_encoder(str(folder), pooling=pooling, precision=wanted)
    assert encoder.spec.precision == wanted
    vectors = unit_rows(encoder.encode(TEXTS))
    assert (exact * vectors).sum(1).min() >= least
    assert not np.array_equal(exact, vectors)  # it really is other arithmetic


def test_normalised_rows_have_length_one_in_any_precision(labse: Path) -> None:
    for wanted in ("int8", "bf16"):
        lengths = np.linalg.norm(load_encoder(str(labse), precision=wanted).encode(TEXTS), axis=1)
        assert np.allclose(lengths, 1, atol=1e-5)


def test_int8_equals_its_definition() -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(48, 24), torch.randn(3, 5, 48)
    made = precision.Int8Linear(layer)(x)
    top = 127 if torch.cpu._is_vnni_supported() else 63
    weight, bias = layer.weight.detach().double(), layer.bias.detach().double()
    w_step = weight.abs().amax(1, keepdim=True) / top
    x_step = x.double().abs().amax(-1, keepdim=True) / 127
    rounded = ((weight / w_step).round() * w_step, (x.double() / x_step).round() * x_step)
    assert torch.allclose(made.double(), rounded[1] @ rounded[0].T + bias, atol=1e-5)


def test_automatic_precision_is_half_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, small, large = torch.device("cpu"), torch.nn.Linear(9, 9), torch.nn.Linear(4096, 4096)
    for native, expected in ((True, "bf16"), (False, "fp32")):
        monkeypatch.setattr(precision, "native_bf16", lambda native=native: native)
        assert precision.choose("auto", cpu, large) == expected
        assert precision.choose("auto", cpu, small) == "fp32"
    assert precision.choose("fp32", cpu, large) == "fp32"
    with pytest.raises(ConfigError, match="'fp16' is for GPUs"):
        precision.choose("fp16", cpu, large)
    with pytest.raises(ConfigError, match="'int8' is for CPUs"):
        precision.choose("int8", torch.device("cuda"), large)
    with pytest.raises(ConfigError, match="use 'auto'"):
        precision.choose("int8", cpu, large, "onnx")


def test_a_revision_is_the_content_not_the_place(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / folder.name
    shutil.copytree(folder, moved)
    (moved / "README.md").write_text("notes change no vector")
    assert load_encoder(str(moved)).spec == load_encoder(str(folder)).spec
    other = models.bert(tmp_path / "other" / folder.name, seed=1, max_position_embeddings=128)
    changed = load_encoder(str(other)).spec
    assert changed.revision != load_encoder(str(folder)).spec.revision
    assert changed.name == folder.name


def test_levels_and_tokens_on_request(folder: Path) -> None:
    encoder = load_encoder(str(folder), levels=(8, 16), max_tokens=10)
    assert encoder.spec.levels == (8, 16, 32)
    assert encoder.spec.max_tokens == 10
    with pytest.raises(ConfigError, match="levels"):
        load_encoder(str(folder), levels=(64,))


def test_a_device_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(ConfigError, match="device 'tpu9'"):
        load_encoder(str(folder), device="tpu9")


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def garble(path: Path) -> None:
    path.write_bytes(b"\xff" * 20 + path.read_bytes()[20:])


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")


def without_pooler(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "pooler" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda f: [p.unlink() for p in f.iterdir()], "no modules.json .* and no config.json"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "expected model.safetensors"),
    "cut weights": (lambda f: cut(f / "model.safetensors"), "its header says"),
    "garbled weights": (lambda f: garble(f / "model.safetensors"), "model.safetensors: "),
    "other size": (lambda f: edit(f / "config.json", hidden_size=64), "size mismatch"),
    "lacks a layer": (
        lambda f: edit(f / "config.json", num_hidden_layers=3),
        r"encoder\.layer\.2.*not in the weights",
    ),
    "lacks the pooler": (without_pooler, r"pooler\..*not in the weights"),
    "pickled": (pickled, "pytorch_model.bin: pickled weights can run code"),
    "bad config": (lambda f: (f / "config.json").write_text("{"), "config.json: not JSON"),
    "no model type": (lambda f: (f / "config.json").write_text("{}"), "model_type"),
    "no vocabulary": (lambda f: (f / "tokenizer.json").unlink(), "no vocabulary in it"),
    "bad vocabulary": (lambda f: (f / "tokenizer.json").write_text("[]"), "not loadable"),
    "missing shard": (
        lambda f: (f / "model.safetensors.index.json").write_text(
            json.dumps({"weight_map": {"a": "model-1-of-2.safetensors"}})
        ),
        "model-1-of-2.safetensors: no such file",
    ),
}


@pytest.mark.parametrize("damage", BROKEN)
def test_a_broken_folder_is_one_clear_line(folder: Path, tmp_path: Path, damage: str) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    harm, said = BROKEN[damage]
    harm(broken)
    with pytest.raises(DataError, match=said) as error:
        load_encoder(f"nase={broken}")
    assert str(broken) in str(error.value)
    assert "\n" not in str(error.value)


def test_weights_of_a_pooler_that_is_not_used_may_lack(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    without_pooler(copy)
    hand = by_hand(folder, TEXTS, POOLED["mean"])
    assert np.allclose(load_encoder(str(copy)).encode(TEXTS), hand, atol=1e-5)


def test_pickled_weights_inside_a_pipeline_are_refused(labse: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(labse, copy)
    pickled(copy / "2_Dense")
    with pytest.raises(DataError, match=r"2_Dense/pytorch_model\.bin: pickled"):
        load_encoder(str(copy))


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="is a file, expected a model folder"):
        load_encoder(str(tmp_path / "file"))


def test_code_that_comes_with_a_model_runs_only_when_trusted(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, mark = tmp_path / "coded", tmp_path / "ran"
    shutil.copytree(folder, copy)
    edit(
        copy / "config.json",
        model_type="coded",
        auto_map={"AutoConfig": "coded.CodedConfig", "AutoModel": "coded.CodedModel"},
    )
    (copy / "coded.py").write_text(
        "from pathlib import Path\n"
        "from transformers import BertConfig, BertModel\n"
        f"Path({str(mark)!r}).touch()\n"
        "class CodedConfig(BertConfig):\n    model_type = 'coded'\n"
        "class CodedModel(BertModel):\n    config_class = CodedConfig\n"
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "hf"))
    with pytest.raises(ConfigError, match=r"runs Python code .* --trust-remote-code"):
        load_encoder(str(copy))
    assert not mark.exists()
    encoder = load_encoder(str(copy), trust_remote_code=True)
    assert mark.exists()
    assert np.allclose(encoder.encode(TEXTS), by_hand(folder, TEXTS, POOLED["mean"]), atol=1e-5)


def test_a_package_that_is_missing_is_not_the_folders_fault(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*arguments: object) -> None:
        raise ImportError("cannot import name 'x' from 'y'")

    monkeypatch.setattr(sentence, "_load", load)
    with pytest.raises(MissingExtra, match="does not fit the others: cannot import name 'x'"):
        load_encoder(str(folder))


def test_loading_says_nothing_and_leaves_logging_as_it_was(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import logging

    from transformers.utils.logging import is_progress_bar_enabled

    log = logging.getLogger("transformers.modeling_utils")
    before = (log.level, list(log.filters), is_progress_bar_enabled())
    load_encoder(str(folder)).encode(TEXTS)
    assert capfd.readouterr() == ("", "")
    assert (log.level, list(log.filters), is_progress_bar_enabled()) == before
