"""A head and its encoder learn together, resume exactly, and are read back as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from newsrec.encode import Tuning, load_encoder
from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.rank import (
    EpochReport,
    FitOptions,
    Inputs,
    LateFusion,
    NeuralRanker,
    fit_tuned,
    load_ranker,
    make_head,
)
from newsrec.rank.articles import articles_of
from newsrec.rank.batches import ClickRows
from newsrec.rank.news_modules import Items
from newsrec.rank.tuned import TunedHead
from newsrec.types import Impressions
from tests.contracts.test_rankers import auc
from tests.rank import styled
from tests.synthetic import Known, impressions_of

OPTIONS = FitOptions(batch=16, micro_batch=8, epochs=3, learning_rate=1e-3, seed=5)


@pytest.fixture(scope="module")
def known() -> Known:
    return styled.readers()


@pytest.fixture(scope="module")
def texts(known: Known) -> list[str]:
    return styled.texts_of(known)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "bert"
    styled.encoder(folder)
    return folder


def head_of(known: Known, model: Path, name: str = "lfrec-scl", **options: Any) -> Any:
    given = styled.worded(known, styled.encoder(model, normalize=True).spec)
    inputs = Inputs.of(given.features, centre="none")
    return make_head(name, inputs, seed=2, **options)


def tuned(
    known: Known, texts: list[str], model: Path, folder: Path, name: str = "lfrec-scl",
    tuning: Tuning | None = None, valid: Impressions | None = None, **more: Any,
) -> tuple[NeuralRanker, Any]:  # fmt: skip
    """The ranker, and the tower as training left it."""
    tower = styled.tower(model, texts, tuning, normalize=True)
    train = styled.worded(known, tower.spec, more.pop("train", None))
    judged = None if valid is None else replace(train, impressions=valid)
    options = more.pop("options", OPTIONS)
    head = head_of(known, model, name, **more.pop("head_options", {}))
    return fit_tuned(head, tower, train, judged, options, folder=folder, **more), tower


class Killed(Exception):
    """Stands for a kill: nothing after it runs."""


def weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in module.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("policy", ["last4", "lora"])
def test_an_encoder_learns_what_its_frozen_vectors_do_not_tell(
    known: Known, texts: list[str], tmp_path: Path, policy: str
) -> None:
    model = tmp_path / "steady"
    rng = np.random.default_rng(3)
    train = impressions_of(rng, known.news.category.astype(np.int64), known.news, 160)
    before = styled.encoded(known, styled.encoder(model, normalize=True), texts)
    frozen = auc(known.impressions, LateFusion().score(known.impressions, before)).mean()
    reports: list[EpochReport] = []
    options = replace(OPTIONS, epochs=8, learning_rate=1e-2)
    tuning = Tuning(policy, dropout=0.0)
    ranker, _ = tuned(known, texts, model, tmp_path, tuning=tuning, train=train,
                      options=options, on_epoch=reports.append)  # fmt: skip
    assert reports[-1].train_loss < 0.7 * reports[0].train_loss
    after = styled.encoded(known, load_encoder(str(tmp_path / "best" / "encoder")), texts)
    learnt = auc(known.impressions, ranker.score(known.impressions, after)).mean()
    assert frozen < 0.75
    assert learnt > 0.95


@pytest.mark.parametrize("name", ["naml", "mins", "caum", "manner"])
def test_any_head_trains_with_its_encoder(
    known: Known, texts: list[str], model: Path, tmp_path: Path, name: str
) -> None:
    ranker, tower = tuned(known, texts, model, tmp_path, name, valid=known.impressions,
                          options=replace(OPTIONS, epochs=2))  # fmt: skip
    assert ranker.head.name == name
    base = weights(styled.tower(model, texts, normalize=True))
    moved = {key for key, found in weights(tower).items() if not torch.equal(found, base[key])}
    assert {key.split("layer.")[1][0] for key in moved} == set("1234")
    start = weights(head_of(known, model, name))
    assert not any(torch.equal(w, start[k]) for k, w in weights(ranker.head).items() if "user" in k)
    after = styled.encoded(known, load_encoder(str(tmp_path / "best" / "encoder")), texts)
    assert np.isfinite(ranker.score(known.impressions, after)).all()


def test_a_ranker_read_back_scores_as_what_was_trained(
    known: Known, texts: list[str], model: Path, tmp_path: Path
) -> None:
    ranker, tower = tuned(known, texts, model, tmp_path, "naml", Tuning("lora"))
    encoder = load_encoder(str(tmp_path / "best" / "encoder"), precision="fp32")
    assert ranker.head.inputs.encoder == encoder.spec
    after = styled.encoded(known, encoder, texts)
    with torch.inference_mode():
        vectors = tower.eval()(torch.arange(len(texts))).numpy()
    np.testing.assert_allclose(vectors, encoder.encode(texts), atol=2e-5)
    again = load_ranker(tmp_path / "best")
    assert isinstance(again, NeuralRanker)
    scores = ranker.score(known.impressions, after)
    assert np.array_equal(again.score(known.impressions, after), scores)
    direct = _scored_by_hand(known, ranker, tower)
    np.testing.assert_allclose(scores, direct, atol=1e-4)
    assert ranker.made["tower"]["tuning"]["policy"] == "lora"
    assert ranker.made["base"]["revision"] == tower.spec.revision


def _scored_by_hand(known: Known, ranker: NeuralRanker, tower: Any) -> np.ndarray:
    """Each impression alone through the module that was trained."""
    module = TunedHead(ranker.head, tower).eval()
    given = styled.worded(known, ranker.head.inputs.encoder)  # type: ignore[arg-type]
    articles = articles_of(known.impressions, given.features, ranker.head.inputs)
    articles = replace(articles, text=given.numbers(articles))
    out = []
    for i, of in enumerate(known.impressions.history_of):
        read, shown = articles.history[of], articles.candidates[i]
        items = Items.of(articles, np.concatenate([read, shown]))
        numbers = torch.arange(len(read) + len(shown))[None]
        mask = torch.ones(1, len(read), dtype=torch.bool)
        with torch.inference_mode():
            out.append(module(items, numbers[:, : len(read)], mask, numbers[:, len(read) :])[0])
    return torch.cat(out).numpy()


def test_vectors_of_the_encoder_before_training_are_refused(
    known: Known, texts: list[str], model: Path, tmp_path: Path
) -> None:
    ranker, _ = tuned(known, texts, model, tmp_path, options=replace(OPTIONS, epochs=1))
    before = styled.encoded(known, styled.encoder(model, normalize=True), texts)
    with pytest.raises(
        ConfigError, match=r"trained on vectors of 'bert-last4'.*these are of 'bert'"
    ):
        ranker.score(known.impressions, before)


def batch_of(known: Known, model: Path) -> tuple[Items, ClickRows, Any]:
    given = styled.worded(known, styled.encoder(model, normalize=True).spec)
    head = head_of(known, model)
    articles = articles_of(known.impressions, given.features, head.inputs)
    # Every second article tells the story of the one before: 80 articles, 40 texts.
    halved = replace(given, shelf=given.shelf // 2, history=given.history // 2)
    articles = replace(articles, text=halved.numbers(articles))
    rows = ClickRows.of(known.impressions, articles)
    batch = rows.batch(np.arange(24), 0)
    return Items.of(articles, batch.articles), rows, head


def test_a_distinct_text_of_a_batch_is_encoded_once(
    known: Known, texts: list[str], model: Path
) -> None:
    items, _, head = batch_of(known, model)
    tower = styled.tower(model, texts, normalize=True)
    seen: list[torch.Tensor] = []
    tower.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    module = TunedHead(head, tower).train()
    views = module.views(items)
    assert items.text is not None
    assert len(seen) == 1
    assert sorted(seen[0].tolist()) == sorted(set(items.text.ravel().tolist()))
    assert len(seen[0]) < len(items.text)
    assert views.shape == (len(items.text), 1, 32)
    wanted = tower.eval()(items.text[:, 0]) * head.inputs.length
    torch.testing.assert_close(module.eval().views(items)[:, 0], wanted, atol=1e-4, rtol=1e-4)


def test_validation_encodes_a_text_once_and_forgets_it_when_training_goes_on(
    known: Known, texts: list[str], model: Path
) -> None:
    items, _, head = batch_of(known, model)
    tower = styled.tower(model, texts, normalize=True)
    module, n = TunedHead(head, tower), [0]
    tower.register_forward_pre_hook(lambda _, given: n.__setitem__(0, n[0] + len(given[0])))
    distinct = len(torch.unique(items.text))
    module.eval()
    with torch.inference_mode():
        first = module.views(items)
        assert torch.equal(module.views(items), first)
    assert n[0] == distinct
    module.train()
    with torch.no_grad():
        for p in tower.parameters():
            p.mul_(1.1)
    module.eval()
    with torch.inference_mode():
        assert not torch.equal(module.views(items), first)
    assert n[0] == 2 * distinct


def test_an_article_without_text_is_zeros(known: Known, texts: list[str], model: Path) -> None:
    items, _, head = batch_of(known, model)
    module = TunedHead(head, styled.tower(model, texts, normalize=True))
    none = torch.full_like(items.text, -1)
    assert not module.views(replace(items, text=none)).any()
    some = items.text.clone()
    some[3] = -1
    views = module.eval().views(replace(items, text=some))
    assert not views[3].any()
    assert views[4].any()


@pytest.mark.parametrize("policy", ["last4", "lora"])
@pytest.mark.parametrize("inside", [False, True], ids=["between epochs", "inside an epoch"])
def test_a_killed_run_goes_on_and_ends_the_same(
    known: Known, texts: list[str], model: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, policy: str, inside: bool,
) -> None:  # fmt: skip
    from newsrec.rank import loop

    tuning, small = Tuning(policy), known.impressions.take(np.arange(24))
    given = {"tuning": tuning, "train": small, "valid": small}
    whole: list[EpochReport] = []
    straight, tower = tuned(
        known, texts, model, tmp_path / "a", "naml", on_epoch=whole.append, **given
    )

    def kill(report: EpochReport) -> None:
        if report.epoch == 1:
            raise Killed

    steps, step = [0], loop.train_step

    def counted(*arguments: Any) -> float:
        steps[0] += 1
        if steps[0] == 5:
            raise Killed
        return step(*arguments)

    if inside:
        monkeypatch.setattr(loop, "train_step", counted)
        given["options"] = replace(OPTIONS, checkpoint_steps=1)
    with pytest.raises(Killed):
        tuned(known, texts, model, tmp_path / "b", "naml",
              on_epoch=None if inside else kill, **given)  # fmt: skip
    assert not (tmp_path / "b" / "best").exists()
    rest: list[EpochReport] = []
    resumed, again = tuned(
        known, texts, model, tmp_path / "b", "naml", on_epoch=rest.append, **given
    )
    assert same(weights(tower), weights(again))
    assert same(weights(straight.head), weights(resumed.head))
    assert straight.head.inputs == resumed.head.inputs  # the encoder's files are the same, too
    assert [(r.train_loss, r.valid_loss) for r in rest][-2:] == [
        (r.train_loss, r.valid_loss) for r in whole
    ][-2:]


def test_a_checkpoint_has_no_weights_that_are_not_trained(
    known: Known, texts: list[str], model: Path, tmp_path: Path
) -> None:
    tuned(known, texts, model, tmp_path, "naml", options=replace(OPTIONS, epochs=1))
    with safe_open(tmp_path / "last" / "state.safetensors", "np") as file:
        names = set(file.keys())
    assert any("tower" in name and "layer.4." in name for name in names)
    assert any(name.startswith("weights/head.") for name in names)
    assert not any("embeddings" in name or "layer.0." in name for name in names)


def test_a_finished_run_is_read_not_trained_again(
    known: Known, texts: list[str], model: Path, tmp_path: Path
) -> None:
    short = replace(OPTIONS, epochs=1)
    first, _ = tuned(known, texts, model, tmp_path, options=short)
    written = (tmp_path / "best" / "encoder" / "model.safetensors").stat().st_mtime_ns
    reports: list[EpochReport] = []
    second, _ = tuned(known, texts, model, tmp_path, options=short, on_epoch=reports.append)
    assert not reports
    assert (tmp_path / "best" / "encoder" / "model.safetensors").stat().st_mtime_ns == written
    assert first.head.inputs == second.head.inputs
    (tmp_path / "best" / "manifest.json").unlink()
    third, _ = tuned(known, texts, model, tmp_path, options=short)
    assert third.head.inputs == first.head.inputs
    for changed in (
        {"tuning": Tuning("all")},
        {"texts": [*texts[1:], "w1"]},
        {"name": "lfrec-ce"},
    ):
        with pytest.raises(StaleCacheError, match=r"checkpoint of another run"):
            tuned(**{"known": known, "texts": texts, "model": model, "folder": tmp_path,
                     "options": short, **changed})  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize("changed", [{"checkpointing": True}, {"precision": "bf16"}])
def test_checkpointing_and_bf16_give_nearly_the_same_losses(
    known: Known, texts: list[str], model: Path, tmp_path: Path, changed: dict[str, Any]
) -> None:
    found: list[list[float]] = []
    small = known.impressions.take(np.arange(24))
    for name, tuning in (("plain", Tuning()), ("changed", Tuning(**changed))):
        reports: list[EpochReport] = []
        tuned(known, texts, model, tmp_path / name, tuning=tuning, train=small, valid=small,
              options=replace(OPTIONS, epochs=2), on_epoch=reports.append)  # fmt: skip
        found.append([x for r in reports for x in (r.train_loss, r.valid_loss or 0.0)])
    tolerance = 0.05 if "precision" in changed else 1e-4
    np.testing.assert_allclose(found[0], found[1], rtol=tolerance)


def test_the_head_given_stays_and_the_frozen_encoder_too(
    known: Known, texts: list[str], model: Path, tmp_path: Path
) -> None:
    tower = styled.tower(model, texts, Tuning("none"), normalize=True)
    head, before = head_of(known, model, "naml"), weights(tower)
    kept = weights(head)
    state = torch.get_rng_state()
    given = styled.worded(known, tower.spec)
    ranker = fit_tuned(head, tower, given, None, replace(OPTIONS, epochs=1), folder=tmp_path)
    assert same(weights(tower), before)
    assert same(weights(head), kept)
    assert not same(weights(ranker.head), kept)
    assert torch.equal(torch.get_rng_state(), state)


def test_what_cannot_be_trained_is_told(
    known: Known, texts: list[str], model: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"lfrec-scl.*trainable: none.*last4"):
        tuned(known, texts, model, tmp_path, tuning=Tuning("none"))
    with pytest.raises(ConfigError, match=r"'naml-cat' reads no text"):
        tuned(known, texts, model, tmp_path, "naml-cat")
    tower = styled.tower(model, texts, normalize=True)
    given = styled.worded(known, tower.spec)
    head = make_head("lfrec-scl", Inputs.of(given.features))
    with pytest.raises(ConfigError, match=r"without their mean \(centre: spec\).*centre: none"):
        fit_tuned(head, tower, given, None, OPTIONS, folder=tmp_path)
    lost = replace(given, shelf=np.full_like(given.shelf, -1), history=given.shelf * 0 - 1)
    with pytest.raises(DataError, match="no text to encode"):
        fit_tuned(head_of(known, model), tower, lost, None, OPTIONS, folder=tmp_path)
    wild = replace(OPTIONS, learning_rate=1e30, clip=None, warmup=0.0)
    with pytest.raises(DataError, match="training diverged"):
        tuned(known, texts, model, tmp_path, options=wild)
    assert not list(tmp_path.iterdir())
