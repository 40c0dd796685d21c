"""The paper's models and encoders as newsrec makes them (paper 004 §5, appendices B and C)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from newsrec import spelling
from newsrec.config import EncoderConfig
from newsrec.encode.folder import check_folder, content_hash
from newsrec.encode.presets import BUILT_IN
from newsrec.encode.presets import names as preset_names
from newsrec.errors import ConfigError, DataError, unknown_name


@dataclass(frozen=True, slots=True)
class Model:
    """``head`` with its ``options``; ``large``: those that differ beside XLM-R large (appendix C),
    ``as_run``: those of the public code alone (protocol newsreclib); ``text``: reads an encoder;
    ``trained``: has weights of its own."""

    head: str
    views: tuple[str, ...] = ("title+abstract",)
    options: Mapping[str, Any] = field(default_factory=dict)
    large: Mapping[str, Any] = field(default_factory=dict)
    as_run: Mapping[str, Any] = field(default_factory=dict)
    text: bool = True
    trained: bool = True


_TITLE_AND_ABSTRACT = ("title", "abstract")

#: By the paper's names, in the order of table 2, whose parameter counts say that CAUM reads titles
#: (the appendix adds abstracts) and that the public code shares one GRU in MINS's channels.
MODELS: dict[str, Model] = {
    "NAML_CAT": Model("naml-cat", text=False),
    "LFRec": Model("lfrec", trained=False),
    "LFRec-CE": Model("lfrec-ce", trained=False),
    "LFRec-SCL": Model("lfrec-scl", trained=False),
    "NAML": Model("naml", _TITLE_AND_ABSTRACT, {"query": 50}, {"query": 200}),
    "MINS": Model(
        "mins", _TITLE_AND_ABSTRACT, {"heads": 16, "query": 100}, {"heads": 32, "query": 50},
        {"one_gru": True},
    ),
    "CAUM": Model("caum", ("title",), {"heads": 8}),
    "MANNeR": Model("manner"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Convention:
    """How an encoder of the paper makes a vector. ``name``: what is loaded where no folder is
    given ("": one must be), ``preset`` whose convention holds for a folder; ``options`` of
    `newsrec.encode.load_encoder`, ``as_run``: those of the public code (protocol newsreclib)."""

    name: str
    preset: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    as_run: Mapping[str, Any] = field(default_factory=dict)
    large: bool = False


#: By the paper's names. Its code takes every BERT's raw pooler output, LaBSE's too: unit rows could
#: not have saturated its AUC of 50.47 (protocol newsreclib). The variants are those of figure 2.
ENCODERS: dict[str, Convention] = {
    "XLM-R": Convention("FacebookAI/xlm-roberta-large", options={"pooling": "cls"}, large=True),
    "LaBSE": Convention("labse", "labse", as_run={"pooling": "pooler", "normalize": False}),
    "NaSE": Convention("nase", "nase"),
    "NaSE-DAE": Convention("", "nase"),
    "NaSE-MT": Convention("", "nase"),
    "NaSE-DAE+MT": Convention("", "nase"),
}

#: NaSE trained otherwise: in figure 2 alone.
VARIANTS = ("NaSE-DAE", "NaSE-MT", "NaSE-DAE+MT")

_SPELLINGS = {name.lower(): name for name in ENCODERS} | {
    "xlm-roberta-large": "XLM-R", "xlm-roberta": "XLM-R", "nase-seq": "NaSE",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """An encoder of the command line.

    ``label``: the paper's name where it has one, else its own or its folder's; ``tunable``: whether
    it has layers that can be fine-tuned; ``weights``: hash of a local folder's content ("" for what
    is fetched by name).
    """

    label: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tunable: bool = True
    weights: str = ""

    @property
    def large(self) -> bool:
        """Whether it is XLM-R large, beside which hyperparameters differ."""
        return self.label in ENCODERS and ENCODERS[self.label].large

    def encoder(self, protocol: str) -> EncoderConfig:
        """What to load; options written on the command line win over the convention's."""
        said = ENCODERS.get(self.label)
        convention = {} if said is None else dict(said.options)
        if (
            said is not None
            and protocol == "newsreclib"
            and self.name.partition("=")[0] != BUILT_IN
        ):
            convention |= said.as_run
        return EncoderConfig(name=self.name, options={**convention, **self.options})


def column(word: str) -> Column:
    """One word of ``--encoders``: an encoder's name or folder, or COLUMN=FOLDER for the weights of
    a column of the paper (``LaBSE=/models/labse``; a folder of its name is one, too).

    `ConfigError` for a name that neither the paper nor newsrec knows, `DataError` for a folder that
    is not there or no model.
    """
    found = spelling.encoder(word, "--encoders")
    name, options = str(found["name"]), found.get("options", {})
    left, equals, right = name.partition("=")
    if not equals or _is_folder(name):
        return _named(name, options)
    label = _SPELLINGS.get(left.lower())
    if label is None and left not in preset_names():
        known = [*ENCODERS, *preset_names()]
        raise unknown_name("encoder or column of the paper:", left, known)
    if right == BUILT_IN and label is not None:
        return Column(label, BUILT_IN, options, tunable=False)
    if label is None:
        weights = _weights(right, word)
        return Column(left, name, options, tunable=left != BUILT_IN, weights=weights)
    return _of_paper(label, right, options, word)


def _of_paper(label: str, folder: str, options: Mapping[str, Any], word: str) -> Column:
    """A column of the paper with the weights in ``folder``."""
    preset = ENCODERS[label].preset
    name = f"{preset}={folder}" if preset else folder
    return Column(label, name, options, weights=_weights(folder, word))


def _named(name: str, options: Mapping[str, Any]) -> Column:
    if name == BUILT_IN:
        return Column(name, name, options, tunable=False)
    if _is_folder(name):
        own = Path(name).expanduser().resolve().name
        if own.lower() in _SPELLINGS:
            return _of_paper(_SPELLINGS[own.lower()], name, options, name)
        return Column(own, name, options, weights=_weights(name, name))
    label = _SPELLINGS.get(name.rpartition("/")[2].lower())
    if label is None:
        return Column(name, name, options)
    known = ENCODERS[label].name
    if not known:
        raise ConfigError(f"--encoders: {name!r} has no public weights; write {label}=FOLDER")
    return Column(label, known, options)


def _weights(folder: str, word: str) -> str:
    """The content of a model folder in 16 hex digits."""
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise DataError(f"--encoders: {word!r}: no such model folder {folder!r}")
    if (path / "modules.json").is_file() or (path / "config.json").is_file():
        check_folder(path)
    return content_hash(path)


def _is_folder(name: str) -> bool:
    return Path(name).expanduser().is_dir()
