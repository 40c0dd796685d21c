"""``newsrec reproduce``: a table or the figures of the paper, the story top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from newsrec import build
from newsrec.config import TrainConfig
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, unknown_name
from newsrec.languages import canonical
from newsrec.pipeline.lessons import check_valid
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.paper.cells import OnCell, run_cell
from newsrec.pipeline.paper.corpora import SMALL, count_lines, prepared, small_part
from newsrec.pipeline.paper.grid import (
    PROTOCOLS,
    SEEDS,
    Cell,
    Setting,
    What,
    cells,
    rows,
)
from newsrec.pipeline.paper.measured import Found
from newsrec.pipeline.paper.models import Column, column
from newsrec.pipeline.paper.printed import Row

#: Languages of a quick run, the one trained in among them.
QUICK_LANGUAGES = 2


@dataclass(frozen=True, slots=True)
class Request:
    """What ``newsrec reproduce`` was asked for.

    ``out``: folder of cells, tables and figures; ``corpus``: prepared folder (None: the bundled
    sample, or what is prepared from ``raw``); ``encoders`` as `models.column` reads them;
    ``wanted``: rows; ``lang``: trained in (None: English, or what there is); ``langs``:
    measured (none: all); ``options``: fields of `FitOptions` that differ from the paper's.
    """

    what: What
    out: Path
    encoders: tuple[str, ...] = ("labse", "nase")
    corpus: str | None = None
    raw: Path | None = None
    wanted: tuple[str, ...] = ()
    protocols: tuple[str, ...] = PROTOCOLS
    seeds: tuple[int, ...] = SEEDS
    lang: str | None = None
    langs: tuple[str, ...] = ()
    train: str = "train"
    valid: str | None = None
    test: str = "test"
    tuning: str = "last4+embeddings"
    options: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        if self.corpus is not None and self.raw is not None:
            raise ConfigError(
                "--corpus (NEWSREC_CORPUS) and --raw exclude each other: prepared, or to be"
            )
        for protocol in self.protocols:
            if protocol not in PROTOCOLS:
                raise unknown_name("protocol", protocol, PROTOCOLS)
        tunings = get_args(TrainConfig.model_fields["trainable"].annotation)
        if self.tuning not in tunings or self.tuning == "none":
            known = tuple(x for x in tunings if x != "none")
            raise unknown_name("part of an encoder to fine-tune (--trainable):", self.tuning, known)
        if not self.protocols or not self.seeds or not self.encoders:
            raise ConfigError("reproduce: name at least one protocol, one seed and one encoder")

    @property
    def folder(self) -> Path:
        """Where cells and reports are; quick ones are kept apart."""
        return self.out / "quick" if self.quick else self.out


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Everything that is to be run: ``cells`` on ``corpus``; ``notes``: what a reader must know of
    corpus and rows."""

    request: Request
    corpus: Corpus
    setting: Setting
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


def planned(request: Request) -> Plan:
    """The cells of ``request``; nothing is trained yet.

    `ConfigError` for unknown encoders, rows, languages, splits or options, `DataError` for folders
    that are not there.
    """
    columns = tuple(column(word) for word in dict.fromkeys(request.encoders))
    _check_labels(columns)
    chosen = tuple(rows(request.what, columns, request.wanted))
    whole = prepared(request.raw, request.out) if request.raw else open_corpus(request.corpus)
    setting = _setting(request, whole)
    splits = {"train": setting.train, "valid": setting.valid or "", "test": setting.test}
    notes, _ = count_lines(whole, splits)
    corpus = whole
    if request.quick:
        setting, corpus = _small(request, setting, whole, splits)
        notes.append(
            f"Quick: {', '.join(f'{n} {role}' for role, n in SMALL.items())} impressions at most, "
            "one seed: it shows that all runs, no more"
        )
    found = cells(chosen, columns, request.protocols, _seeds(request))
    _check(found, setting, corpus)
    for named in columns:
        if named.tunable and not named.weights:  # a model of the hub: found now, or said now
            build.encoder(named.encoder(request.protocols[0]), request.trust_remote_code)
    untuned = [x.label for x in columns if not x.tunable]
    if untuned and not any(
        row.encoder in untuned and row.training == "fine-tuned" for row in chosen
    ):
        notes.append(f"{', '.join(untuned)}: no layers to fine-tune, frozen rows only")
    return Plan(request, corpus, setting, columns, chosen, tuple(found), tuple(notes))


def reproduce(plan: Plan, on_cell: OnCell | None = None) -> dict[tuple[str, Row], list[Found]]:
    """Run what is not there yet; ``{(protocol, row): one a seed}``. Each cell is kept as soon as it
    is measured, so that a run that was cut short goes on."""
    found: dict[tuple[str, Row], list[Found]] = {}
    for i, cell in enumerate(plan.cells):
        if on_cell is not None:
            on_cell(cell, i, len(plan.cells))
        done = run_cell(cell, plan.setting, plan.corpus, plan.request.folder)
        found.setdefault((cell.protocol, cell.row), []).append(done)
    return found


def _check(found: Sequence[Cell], setting: Setting, corpus: Corpus) -> None:
    """A wrong option or split is told before anything is trained."""
    check_valid(setting.valid, corpus.splits)
    if setting.test in (setting.train, setting.valid):
        raise ConfigError(
            f"--test: {setting.test!r} is trained on, or decides when to stop; name another split"
        )
    device = dict(setting.options).get("device", "cpu")
    if device != "cpu" and any(cell.is_trained for cell in found):
        from newsrec.rank.loop import check_device

        check_device(str(device))
    for cell in found:
        if cell.is_trained:
            config = cell.training(setting)
            build.fit_options(config, cell.seed, few=cell.row.shots is not None)


def _seeds(request: Request) -> tuple[int, ...]:
    return request.seeds[:1] if request.quick else request.seeds


def _setting(request: Request, corpus: Corpus) -> Setting:
    known = corpus.languages
    source = canonical(request.lang, "--lang") if request.lang else None
    if source is None:
        source = "eng" if "eng" in known else known[0]
    langs = tuple(dict.fromkeys(canonical(x, "--langs") for x in request.langs)) or known
    for option, code in (("--lang", source), *(("--langs", x) for x in langs)):
        if code not in known:
            raise unknown_name(f"language of corpus {corpus.name!r} ({option}):", code, known)
    for split in (request.train, request.test):
        if split not in corpus.splits:
            raise unknown_name(f"split of corpus {corpus.name!r}", split, corpus.splits)
    ordered = tuple(sorted(langs, key=lambda x: x != source))
    return Setting(
        corpus=str(corpus.folder), source=source, langs=ordered, train=request.train,
        valid=request.valid or ("valid" if "valid" in corpus.splits else "0.1"),
        test=request.test, tuning=request.tuning, options=tuple(sorted(request.options.items())),
        trust_remote_code=request.trust_remote_code,
    )  # fmt: skip


def _small(
    request: Request, setting: Setting, whole: Corpus, splits: dict[str, str]
) -> tuple[Setting, Corpus]:
    """A small part of the corpus, one epoch, two languages."""
    langs = setting.langs[:QUICK_LANGUAGES]
    corpus = small_part(whole, request.folder / "corpus", splits, setting.source, langs)
    options = {"epochs": 1, **request.options}
    changed = replace(
        setting, corpus=str(corpus.folder), langs=langs, options=tuple(sorted(options.items()))
    )
    return changed, corpus


def _check_labels(columns: Sequence[Column]) -> None:
    labels = [x.label for x in columns]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ConfigError(f"--encoders: {twice[0]!r} is named twice; name each encoder once")
