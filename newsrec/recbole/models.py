"""Which of RecBole's models can be trained on clicks alone and asked about any article.

Each of them has been trained and has scored. Left out are those that need more than clicks (DIN,
S3Rec, KSR, …), that train in stages through checkpoints (RaCT), that take minutes on a toy
(ConvNCF), and Pop and Random, of which newsrec has its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from newsrec.errors import ConfigError, unknown_name
from newsrec.recbole.worker import FIXED

#: Score by the reader's number: one who was not trained on is unknown.
GENERAL = (
    "ADMMSLIM", "AsymKNN", "BPR", "CDAE", "DMF", "DiffRec", "EASE", "ENMF", "FISM", "GCMC",
    "ItemKNN", "LDiffRec", "LINE", "LightGCN", "MacridVAE", "MultiDAE", "MultiVAE", "NAIS",
    "NCEPLRec", "NGCF", "NNCF", "NeuMF", "RecVAE", "SGL", "SLIMElastic", "SimpleX", "SpectralCF",
)  # fmt: skip
#: Score by the history of the impression, whoever reads.
SEQUENTIAL = (
    "BERT4Rec", "CORE", "Caser", "FEARec", "FOSSIL", "FPMC", "GCSAN", "GRU4Rec", "GRU4RecCPR",
    "HGN", "HRM", "LightSANs", "NARM", "NPE", "NextItNet", "RepeatNet", "SASRec", "SASRecCPR",
    "SHAN", "SINE", "SRGNN", "STAMP", "TransRec",
)  # fmt: skip
MODELS = (*GENERAL, *SEQUENTIAL)

#: Options of RecBole that newsrec decides.
_OURS = frozenset((*FIXED, "seed", "epochs", "model", "dataset", "config_file"))


def check_models(names: Sequence[str]) -> tuple[str, ...]:
    """``names``, each once; `ConfigError` with the list for one that is not in it."""
    for name in names:
        if name not in MODELS:
            raise unknown_name("RecBole model", name, MODELS)
    if not names:
        raise ConfigError("--model: no model named, expected one like BPR, or several: BPR,SASRec")
    return tuple(dict.fromkeys(names))


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` of RecBole; `ConfigError` for one that newsrec decides, and for a text that is
    more than a word, because RecBole evaluates texts as Python."""
    for key, value in options.items():
        if key in _OURS:
            raise ConfigError(f"--set: {key!r} is decided by newsrec and cannot be set")
        for part in value if isinstance(value, list) else [value]:
            plain = part is None or isinstance(part, bool | int | float)
            word = isinstance(part, str) and part.replace("_", "").replace("-", "").isalnum()
            if not plain and not word:
                raise ConfigError(f"--set: {key}={part!r}, expected a number, a word or a list")
    return dict(options)
