from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from newsrec import build
from newsrec.config import (
    DecodingConfig,
    ExperimentConfig,
    LoraConfig,
    SummarizerConfig,
    load_config,
    load_summarizer,
    load_training,
    parse_config,
)
from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.run import expand
from newsrec.rank.baselines import Random, Recency
from newsrec.rank.cold import WithFallback
from newsrec.rank.fusion import LateFusion
from newsrec.rank.table import RANKERS, Given
from newsrec.rerank.table import RERANKERS
from newsrec.spelling import scalar
from newsrec.types import Strings, Texts

CONFIGS = Path(__file__).resolve().parents[1] / "configs"


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


SUMMARIZERS = sorted(CONFIGS.glob("summarizer_*.yaml"))
EXPERIMENTS = sorted(set(CONFIGS.glob("*.yaml")) - set(SUMMARIZERS))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_experiment_of_the_project_loads_and_can_be_built(path: Path) -> None:
    config = load_config(path)
    for ranker in config.rankers:
        build.check(ranker)
    for reranking in config.rerankers:
        build.reranker(reranking)
    expand(config.metrics)


@pytest.mark.parametrize("path", SUMMARIZERS, ids=lambda path: path.stem)
def test_every_summarizer_of_the_project_loads_and_says_every_key(path: Path) -> None:
    config = load_summarizer(path)
    assert config.model_fields_set == set(SummarizerConfig.model_fields)
    assert config.lora.model_fields_set == set(LoraConfig.model_fields)
    assert config.decoding.model_fields_set == set(DecodingConfig.model_fields)


def test_the_base_file_is_the_defaults() -> None:
    assert load_config(CONFIGS / "base.yaml") == ExperimentConfig() == load_config(None)


def test_the_base_file_says_every_key() -> None:
    text = (CONFIGS / "base.yaml").read_text()
    keys = {line.split(":")[0] for line in text.splitlines() if line and line[0] not in "# "}
    assert keys == set(ExperimentConfig.model_fields)


def test_every_ranker_of_the_table_can_be_named() -> None:
    found = parse_config({"rankers": list(RANKERS)})
    assert [ranker.label for ranker in found.rankers] == list(RANKERS)


def test_options_win_over_files_and_files_over_what_they_extend(tmp_path: Path) -> None:
    _write(tmp_path, "base.yaml", "split: valid\nseeds: [1, 2]\nprotocol: newsreclib\n")
    path = _write(tmp_path, "mine.yaml", "extends: base.yaml\nseeds: [3]\n")
    found = load_config(path, {"split": "dev"})
    assert (found.split, found.seeds, found.protocol) == ("dev", (3,), "newsreclib")


def test_a_ranker_may_be_called_otherwise() -> None:
    (found,) = parse_config({"rankers": ["scores:file=runs/a-{seed}.npy:called=mine"]}).rankers
    assert (found.label, found.options) == ("mine", {"file": "runs/a-{seed}.npy"})
    (plain,) = parse_config({"rankers": [{"name": "scores", "options": found.options}]}).rankers
    assert plain.label == "scores:file=runs/a-{seed}.npy"
    assert found != plain


def test_ranker_options_parse_from_words() -> None:
    words = ["fusion:centre=none:history_limit=null:cold=none", "tfidf:sizes=[2, 3]"]
    fusion, tfidf = parse_config({"rankers": words}).rankers
    assert fusion.options == {"centre": "none", "history_limit": None}
    assert fusion.cold == "none"
    assert tfidf.options == {"sizes": [2, 3]}
    assert parse_config({"rankers": fusion.label}).rankers == (fusion,)
    assert parse_config({"rankers": "category_profile"}).rankers[0].name == "category-profile"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lang: [fin]", r"unknown key in .*bad\.yaml: 'lang'; known: .* Did you mean 'langs'"),
        ("seeds: [a]", r"bad\.yaml: seeds\.0: .*found 'a'"),
        ("seeds: []", "seeds: .*at least 1"),
        ("seeds: [-1]", r"seeds\.0: .*greater than or equal to 0, found -1$"),
        ("rankers: []", "rankers: .*at least 1"),
        ("encoders: []", "encoders: .*at least 1"),
        ("protocol: mind", "protocol: .*'newsrec' or 'newsreclib'.*found 'mind'"),
        ("complete_only: 1", "complete_only"),
        ("rankers: [{name: fusion, centre: none}]", r"rankers\.0\.centre"),
        ("rankers: [3]", "3, expected a name"),
        ("rankers: ['fusion:centre']", "'centre', expected key=value"),
        ("encoders: [{}]", r"encoders\.0\.name: Field required"),
        ("- a", "list, expected keys and values"),
        ("a: [", "not YAML"),
        ("extends: bad.yaml", "extends itself"),
        ("extends: none.yaml", r"none\.yaml: cannot be read"),
    ],
)
def test_bad_files_say_where_and_what(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config(_write(tmp_path, "bad.yaml", text))


@pytest.mark.parametrize(
    ("written", "value"),
    [("1e-4", 1e-4), ("2E3", 2000.0), ("-1.5e-3", -1.5e-3), (".5e1", 5.0), ("1e-4x", "1e-4x"),
     ("e5", "e5"), ("10", 10), ("0.1", 0.1), ("1e", "1e")],
)  # fmt: skip
def test_numbers_may_have_an_exponent_without_a_dot(
    tmp_path: Path, written: str, value: object
) -> None:
    path = _write(tmp_path, "a.yaml", f"head: naml\noptions: {{clip: {written}}}\n")
    for found in (load_training(path).options["clip"], scalar(written, "here")):
        assert (found, type(found)) == (value, type(value))


def test_yaml_cannot_make_objects(tmp_path: Path) -> None:
    path = _write(tmp_path, "bad.yaml", "split: !!python/object/apply:os.getcwd []")
    with pytest.raises(ConfigError, match="not YAML"):
        load_config(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(b"split: \xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(path)


def test_configs_are_frozen_and_hashed_by_content() -> None:
    one, other = parse_config({"seeds": [1]}), parse_config({"seeds": [2]})
    assert one.hash == parse_config({"seeds": [1]}).hash != other.hash
    with pytest.raises(ValidationError):
        one.split = "dev"


# --- build


def _texts() -> Texts:
    strings = Strings.pack(["a b", "b c"])
    return Texts("eng", strings, Strings.pack(["", ""]), present=strings.data.lengths > 0)


def test_rankers_that_read_text_get_a_fallback_unless_told_otherwise() -> None:
    def made(word: str, **given: object) -> object:
        config = parse_config({"rankers": word}).rankers[0]
        return build.ranker(config, Given(seed=7, **given), {"view": "title"})  # type: ignore[arg-type]

    fusion = made("fusion:centre=none")
    assert isinstance(fusion, WithFallback)
    assert isinstance(fusion.ranker, LateFusion)
    assert (fusion.ranker.centre, fusion.ranker.view) == ("none", "title")
    assert isinstance(made("fusion:cold=none"), LateFusion)
    assert isinstance(made("tfidf", texts=_texts()), WithFallback)
    assert made("random") == Random(7)
    assert isinstance(made("recency"), Recency)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("fuson", r"unknown ranker 'fuson'; known: .*fusion.* Did you mean 'fusion'"),
        ("fusion:center=none", r"option of ranker 'fusion': 'center'; known: .*'centre'"),
        ("fusion:shelf_language=1", "option of ranker"),
        ("random:x=1", "option of ranker 'random': 'x'"),
    ],
)
def test_unknown_rankers_and_options_are_told_from_the_table(word: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build.check(parse_config({"rankers": word}).rankers[0])


def test_baselines_are_the_rankers_without_vectors() -> None:
    assert set(build.BASELINES) == set(RANKERS) - {"fusion"}


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("fusion:history_limit=x", r"ranker 'fusion': option 'history_limit' is 'x', expected int"),
        ("fusion:history_limit=true", "option 'history_limit' is True"),
        ("fusion:normalize=3", r"option 'normalize' is 3, expected bool \| str"),
        ("fusion:centre=3", "option 'centre' is 3, expected str"),
        ("tfidf:sizes=2", r"option 'sizes' is 2, expected tuple\[int"),
        ("tfidf:bits=1.5", "option 'bits' is 1.5, expected int"),
    ],
)
def test_option_values_of_another_type_are_told(word: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build.check(parse_config({"rankers": word}).rankers[0])


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("tfidf:bits=-4", "bits -4: expected"),
        ("tfidf:sizes=[]", r"sizes \[\]"),
        ("tfidf:history_limit=0", "history_limit: 0, expected at least 1"),
        ("fusion:centre=foo", "unknown centre 'foo'; known: global"),
        ("fusion:history_limit=-3", "history_limit: -3, expected at least 1"),
        ("fusion:normalize=maybe", "unknown normalize 'maybe'"),
    ],
)
def test_values_that_a_ranker_refuses_are_told_before_there_is_a_corpus(
    word: str, said: str
) -> None:
    config = parse_config({"rankers": word}).rankers[0]
    with pytest.raises(ConfigError, match=f"ranker '{word.split(':')[0]}:.*{said}"):
        build.check(config)


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_is_checked_with_its_own_options(name: str) -> None:
    assert build.check(parse_config({"rankers": name}).rankers[0]) is RANKERS[name]


@pytest.mark.parametrize(
    ("word", "name", "options"),
    [
        ("nase:precision=int8", "nase", {"precision": "int8"}),
        ("me5-base:trust_remote_code=true:batch_size=8", "me5-base",
         {"trust_remote_code": True, "batch_size": 8}),
        ("owner/model:revision=abc", "owner/model", {"revision": "abc"}),
        ("labse=/models/a:b:precision=int8", "labse=/models/a:b", {"precision": "int8"}),
        ("/models/a:b=c/d", "/models/a:b=c/d", {}),
        ("mini", "mini", {}),
    ],
)  # fmt: skip
def test_encoder_options_parse_from_words(word: str, name: str, options: dict[str, object]) -> None:
    (found,) = parse_config({"encoders": [word]}).encoders
    assert (found.name, found.options) == (name, options)
    assert list(found.options) == list(options)
    assert parse_config({"encoders": found.label}).encoders == (found,)


def test_a_folder_that_is_there_is_a_name_as_it_stands(tmp_path: Path) -> None:
    folder = tmp_path / "model:precision=int8"
    folder.mkdir()
    for word in (str(folder), f"labse={folder}"):
        assert parse_config({"encoders": [word]}).encoders[0].name == word


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nase:batch_size=x", "encoder 'nase': option 'batch_size' is 'x', expected int"),
        ("nase:max_tokens=x", "option 'max_tokens' is 'x', expected int"),
        ("nase:precison=int8", "unknown encoder option 'precison'"),
    ],
)
def test_bad_encoder_options_are_told(word: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build.encoder(parse_config({"encoders": [word]}).encoders[0])


def test_trust_is_given_to_every_encoder_that_does_not_say_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import newsrec.encode.load as load

    seen: list[object] = []

    def fetch(*_: object, code: bool, **__: object) -> None:
        seen.append(code)
        raise DataError("offline")

    monkeypatch.setattr(load, "fetch", fetch)
    words = ["gte-multilingual-base", "gte-multilingual-base:trust_remote_code=true"]
    for word, trust in ((words[0], True), (words[1], False)):
        with pytest.raises(DataError, match="offline"):
            build.encoder(parse_config({"encoders": [word]}).encoders[0], trust)
    assert seen == [True, True]
    with pytest.raises(ConfigError, match="--trust-remote-code"):
        build.encoder(parse_config({"encoders": words[:1]}).encoders[0])


# --- re-rankers


def test_reranker_options_parse_from_words_and_labels_parse_back() -> None:
    words = ["none", "mmr:relevance_weight=0.7", "quota:at_most={story:1,topic:2}:languages=[fin]"]
    none, mmr, quota = parse_config({"rerankers": words}).rerankers
    assert (none.label, mmr.label) == ("none", "mmr:relevance_weight=0.7")
    assert quota.options == {"at_most": {"story": 1, "topic": 2}, "languages": ["fin"]}
    assert parse_config({"rerankers": [none.label, mmr.label, quota.label]}).rerankers == (
        none, mmr, quota,
    )  # fmt: skip
    assert parse_config({"rerankers": [None]}).rerankers == ExperimentConfig().rerankers


def test_diversity_is_for_rerankers_that_say_no_weight() -> None:
    words = ["none", "mmr", "dpp:relevance_weight=0.5"]
    config = parse_config({"rerankers": words, "diversity": 0.3})
    said = [x.with_diversity(config.diversity).label for x in config.rerankers]
    assert said == ["none", "mmr:relevance_weight=0.7", "dpp:relevance_weight=0.5"]
    assert parse_config({"rerankers": "mmr"}).rerankers[0].with_diversity(None).label == "mmr"


@pytest.mark.parametrize("name", RERANKERS)
def test_every_reranker_can_be_named_and_made(name: str) -> None:
    config = parse_config({"rerankers": name}).rerankers[0]
    made = build.reranker(config)
    assert type(made) is RERANKERS[name].make
    assert build.check_reranker(config) == (name in ("mmr", "dpp"))
    whole = build.reranker(parse_config({"rerankers": f"{name}:relevance_weight=1"}).rerankers[0])
    assert whole == RERANKERS[name].make(relevance_weight=1)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("mrm", "unknown re-ranker 'mrm'; known: .*none.*Did you mean 'mmr'"),
        ("mmr:weight=1", "option of re-ranker 'mmr' 'weight'; known: k, relevance_weight"),
        ("mmr:relevance_weight=2", "relevance_weight: 2, expected a number from 0 to 1"),
        ("mmr:relevance_weight=x", "re-ranker 'mmr': option 'relevance_weight' is 'x', expected"),
        ("mmr:k=0", "k: 0, expected a whole number"),
        ("quota:at_most=3", "'at_most' is 3, expected .* such as at_most={story: 2}"),
        ("manner:weights=theme=-0.3", "is 'theme=-0.3', expected .* weights={theme: -0.3}"),
        ("quota:story=2", "'story'; known: at_most, .* For example: 'quota:at_most={story: 2}'"),
        ("calibrated:divergence=kld", "unknown divergence 'kld'"),
        ("none:k=3", "none takes no options"),
    ],
)
def test_what_rerankers_do_not_take_is_told_from_the_table(word: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        build.reranker(parse_config({"rerankers": word}).rerankers[0])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"diversity": 1.5}, "diversity: .*less than or equal to 1, found 1.5"),
        ({"diversity": -0.1}, "diversity: .*greater than or equal to 0"),
        ({"rerankers": []}, "rerankers: .*at least 1"),
        ({"rerankers": "mmr:k"}, "re-ranker option 'k', expected key=value"),
        ({"rerankers": "manner:weights={theme: nan}"}, "'theme' is 'nan', expected .*finite"),
        ({"rerankers": "manner:weights={theme: .nan}"}, "'theme' is nan, expected .*finite"),
        ({"rerankers": "manner:weights={theme}"}, "'theme' is None, expected .*finite"),
        ({"clusters": 3}, "clusters: .*found 3"),
    ],
)
def test_bad_reranking_is_said(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_config(fields)
