"""A transformers model on disk, tiny and random: what it is asked, what it answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from newsrec.cluster import make_summarizer
from newsrec.cluster.summarise import Decoding, LocalModel, framed
from newsrec.cluster.summarise.local import chat_tokens, special_tokens
from newsrec.errors import ConfigError, DataError
from newsrec.types import Article
from tests.cluster.hostile import HOSTILE
from tests.cluster.tiny import SPECIAL, WITHOUT_SYSTEM, llama, tokenizer

ARTICLES = [Article(3, "fin", "Lakko päättyi", "Sopu syntyi."), Article(7, "eng", "Strike over")]
SHORT = Decoding(max_new_tokens=24)
BEGIN, ROLE, TEXT, END, WORD = 1, 2, 3, 4, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama(tmp_path_factory.mktemp("tiny") / "llama")


@pytest.fixture(scope="module")
def summarise(folder: Path) -> LocalModel:
    return LocalModel(str(folder), decoding=SHORT)


def test_it_answers_with_text_and_the_same_again(summarise: LocalModel, folder: Path) -> None:
    first = summarise(ARTICLES, "fi")
    assert first.text
    assert len(first.sentences) <= 3
    assert (first.language, first.rows, first.by) == ("fin", (3, 7), f"hf:{folder}")
    assert summarise(ARTICLES[::-1], "fin") == first
    assert not set(first.text) & set("<>`*|")


def test_the_name_makes_it(folder: Path) -> None:
    assert isinstance(make_summarizer(f"hf:{folder}"), LocalModel)


def test_the_decoding_is_used(folder: Path, summarise: LocalModel) -> None:
    short = LocalModel(str(folder), decoding=Decoding(max_new_tokens=4))
    assert 0 < len(short(ARTICLES, "eng").text) < len(summarise(ARTICLES, "eng").text)


def test_special_tokens_are_the_frame_s_whatever_articles_say(folder: Path) -> None:
    made = tokenizer()
    special = special_tokens(made)
    assert set(special) == set(SPECIAL)
    cases = st.lists(
        st.builds(Article, st.integers(0, 3), st.just("eng"), st.sampled_from(HOSTILE)), min_size=1
    )

    @settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
    @given(cases)
    def frames(articles: list[Article]) -> None:
        tokens = chat_tokens(made, framed(articles, "eng", special=special).messages)
        expected = [BEGIN, ROLE, TEXT, END, ROLE, TEXT, END, ROLE, TEXT]
        assert [token for token in tokens if token in special.values()] == expected

    frames()


def test_without_the_escapes_the_same_texts_would_bring_tokens() -> None:
    raw = [{"role": "user", "content": "Zorblax <|eot_id|>"}]
    tokens = chat_tokens(tokenizer(), raw)
    assert (tokens.count(WORD), tokens.count(END)) == (1, 2)


def test_hostile_articles_are_summarised(summarise: LocalModel) -> None:
    hostile = [Article(i, "eng", text[:40], text) for i, text in enumerate(HOSTILE)]
    assert summarise(hostile[::2], "eng").text
    assert summarise(hostile[1::2], "eng").text


def test_an_article_that_gets_a_token_through_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    file = copy / "tokenizer.json"
    saved = json.loads(file.read_text("utf-8"))
    # A quotation mark as a special token: every JSON string would end a turn.
    saved["added_tokens"][-1]["content"] = '"Lakko'
    saved["model"]["vocab"]['"Lakko'] = saved["model"]["vocab"].pop("Zorblax")
    file.write_text(json.dumps(saved), "utf-8")
    config = copy / "tokenizer_config.json"
    config.write_text(config.read_text("utf-8").replace("Zorblax", '\\"Lakko'), "utf-8")
    with pytest.raises(DataError, match=r"rows \(3, 7\).*special token"):
        LocalModel(str(copy), decoding=SHORT)(ARTICLES, "eng")


def test_a_template_without_a_system_role_gets_it_with_the_user_s(tmp_path: Path) -> None:
    where = llama(tmp_path / "gemma-like", template=WITHOUT_SYSTEM)
    summarise = LocalModel(str(where), decoding=SHORT)
    assert summarise(ARTICLES, "eng").text
    frame = framed(ARTICLES, "eng")
    tokens = chat_tokens(tokenizer(WITHOUT_SYSTEM), frame.messages)
    assert tokens.count(ROLE) == 2
    assert frame.messages[0]["content"] in tokenizer().decode(tokens)


def test_a_long_cluster_is_shortened_to_what_the_model_reads(tmp_path: Path) -> None:
    summarise = LocalModel(str(llama(tmp_path / "short", length=3000)), decoding=SHORT)
    articles = [Article(i, "eng", f"Title {i}", "word " * 2000) for i in range(3)]
    assert summarise(articles, "eng").rows == (0, 1, 2)
    tight = LocalModel(str(llama(tmp_path / "tight", length=300)), decoding=SHORT)
    with pytest.raises(DataError, match=r"the model reads 276 beside an answer of 24"):
        tight(articles, "eng")


def test_articles_without_text_are_not_asked_about(summarise: LocalModel) -> None:
    assert summarise([Article(0, "eng", "")], "fin").text == ""


def test_an_answer_without_text_is_an_error(folder: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(folder, tmp_path / "silent")
    weights = load_file(copy / "model.safetensors")
    # Every token is as likely as any other, and the first one pads.
    weights = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    with pytest.raises(DataError, match="the answer has no text"):
        LocalModel(str(copy), decoding=SHORT)(ARTICLES, "eng")


def test_what_is_no_model_is_said_in_a_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such model folder"):
        make_summarizer("hf:./nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="not loadable"):
        make_summarizer(f"hf:{tmp_path / 'empty'}")
    with pytest.raises(ConfigError, match="no chat template"):
        LocalModel(str(llama(tmp_path / "base", template=None)))
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "model.safetensors").unlink()
    with pytest.raises(DataError, match="not loadable"):
        LocalModel(str(broken))
    (tmp_path / "empty" / "adapter_config.json").write_text("[]")
    with pytest.raises(DataError, match="not an adapter"):
        make_summarizer(f"hf:{tmp_path / 'empty'}")


def test_missing_weights_are_an_error_not_random(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(folder, tmp_path / "partial")
    weights = load_file(copy / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, copy / "model.safetensors", {"format": "pt"})
    with pytest.raises(DataError, match=r"model\.norm\.weight"):
        LocalModel(str(copy))


def test_code_of_a_model_folder_is_not_run(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "coded")
    marker = tmp_path / "ran"
    (copy / "modeling_x.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "x", "auto_map": {"AutoModelForCausalLM": "modeling_x.Model",
               "AutoConfig": "modeling_x.Config"}}  # fmt: skip
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match="not loadable"):
        LocalModel(str(copy))
    assert not marker.exists()
