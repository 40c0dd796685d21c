"""From a JSONL of clusters and a recipe to an adapter, and from that to other summaries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from newsrec import build
from newsrec.cluster.summarise import LocalModel
from newsrec.cluster.summarise.frame import RULES, TASK
from newsrec.config import SummarizerConfig, load_summarizer
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.summarizer import main, read_examples
from newsrec.types import Article
from tests.cluster.tiny import llama

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
ARTICLES = [
    {"language": "fi", "title": "Lakko päättyi"},
    {"language": "eng", "title": "Strike over"},
]
AS_NOUNS = [Article(0, "fin", "Lakko päättyi"), Article(1, "eng", "Strike over")]
ANSWER = "It is over."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama(tmp_path_factory.mktemp("tiny") / "llama")


def recipe(folder: Path, base: Path, **changed: object) -> Path:
    path = folder / "recipe.yaml"
    lora = {"rank": 16, "dropout": 0.0, "learning_rate": 0.01, "batch_size": 1, "epochs": 60,
            "check_every": 20, "targets": ["q_proj", "v_proj", "up_proj", "down_proj"]}  # fmt: skip
    fields = {"base_model": str(base), "task": "Say it.", "lora": lora,
              "decoding": {"max_new_tokens": 24}}  # fmt: skip
    path.write_text(yaml.safe_dump({**fields, **changed}), "utf-8")
    return path


def examples(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", "utf-8")
    return path


def test_training_changes_what_the_summarizer_says(base: Path, tmp_path: Path) -> None:
    data = examples(tmp_path / "train.jsonl", {"articles": ARTICLES, "summary": ANSWER})
    config = recipe(tmp_path, base)
    out = tmp_path / "adapter"
    given = ["--config", config, "--train", data, "--valid", data, "--out", out, "--device", "cpu"]
    main([str(word) for word in given])

    before = build.summarizer(str(config))
    assert isinstance(before, LocalModel)
    assert before(AS_NOUNS, "eng").text != ANSWER
    after = build.summarizer(str(recipe(tmp_path, base, adapter=str(out))))
    assert after(AS_NOUNS, "eng").text == ANSWER
    # An adapter's folder names its base model and says what it was trained for.
    assert build.summarizer(f"hf:{out}")(AS_NOUNS, "eng").text == ANSWER
    said = json.loads((out / "recipe.json").read_text("utf-8"))
    assert said["config"]["lora"]["rank"] == 16


def test_the_recipe_of_paper_000() -> None:
    config = load_summarizer(CONFIGS / "summarizer_000.yaml")
    assert config.base_model == "meta-llama/Llama-3.1-8B-Instruct"
    lora = config.lora
    assert (lora.rank, lora.alpha, lora.dropout, lora.learning_rate) == (16, 32, 0.1, 2e-4)
    assert (lora.batch_size, lora.check_every) == (8, 1000)
    assert config.task
    assert config.task not in (TASK, RULES)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bsae_model": "x"}, "unknown key .*'bsae_model'.*Did you mean 'base_model'"),
        ({"lora": {"rank": 0}}, r"lora\.rank"),
        ({"lora": {"rank": "16"}}, r"lora\.rank"),
        ({"decoding": {"temperature": 0.7}}, r"decoding\.temperature"),
        ({"task": None}, "task"),
    ],
)
def test_a_recipe_is_strict(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    path = recipe(tmp_path, Path("owner/model"), **fields)
    with pytest.raises(ConfigError, match=message):
        build.summarizer(str(path))


def test_the_options_of_a_recipe_have_one_default() -> None:
    from newsrec.adapt.lora import Lora
    from newsrec.cluster.summarise import Decoding

    config = SummarizerConfig(base_model="b", task="t")
    assert Lora(**config.lora.model_dump()) == Lora()
    assert Decoding(**config.decoding.model_dump()) == Decoding()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"articles": ARTICLES}, r"a\.jsonl:1: KeyError 'summary'"),
        ({"articles": [], "summary": "x"}, "must not be empty"),
        ({"articles": ARTICLES, "summary": " "}, "must not be empty"),
        ({"articles": [{"title": "x"}], "summary": "x"}, "'language'"),
        ({"articles": [{"language": "eng", "title": 3}], "summary": "x"}, "article 0"),
        ({"articles": [{"language": "qqq", "title": "x"}], "summary": "x"}, r"a\.jsonl:1.*'qqq'"),
        ({"articles": ARTICLES, "summary": "x", "language": "qqq"}, r"a\.jsonl:1.*'qqq'"),
        ([1], "expected"),
    ],
)
def test_a_bad_example_is_named(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_examples(examples(tmp_path / "a.jsonl", line))


def test_a_file_without_examples(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no examples"):
        read_examples(examples(tmp_path / "a.jsonl"))
    with pytest.raises(DataError, match="cannot be read"):
        read_examples(tmp_path / "none.jsonl")
