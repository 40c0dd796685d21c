"""Encoders by name: where the weights are, and each one's own way to make a sentence vector.

A convention is part of an encoder: NaSE reads the raw pooler output, LaBSE ends in CLS, dense and
normalise, mE5 wants ``query: `` before every text (protocol §3).
"""

from __future__ import annotations

from dataclasses import dataclass

#: How a plain transformers folder turns token vectors into one: the model's own pooler (dense and
#: tanh over the first token, as in BERT), the first token, the mean, the maximum, the last token.
POOLINGS = ("pooler", "cls", "mean", "max", "lasttoken")

#: The encoder that comes with newsrec; it needs no download and no torch.
BUILT_IN = "mini"


@dataclass(frozen=True, slots=True)
class Preset:
    """One encoder's convention.

    ``pipeline``: a folder with a sentence-transformers pipeline (modules.json) is used as it is;
    ``pooling`` and ``normalize`` then describe it only for a folder without one. ``levels`` are
    Matryoshka sizes (empty: only the full size); ``max_tokens`` 0 means the model's own limit;
    ``remote_code``: the repository's model is Python code that must be trusted to run.
    """

    repo: str
    pooling: str = "mean"
    normalize: bool = False
    prefix: str | None = None
    levels: tuple[int, ...] = ()
    max_tokens: int = 0
    revision: str = "main"
    pipeline: bool = True
    remote_code: bool = False


PRESETS = {
    # Iana et al. 2024: BERT pooler output, not normalised, 96 tokens.
    "nase": Preset("aiana94/NaSE", "pooler", prefix="", max_tokens=96, pipeline=False),
    # Feng et al. 2022. Its pipeline's dense layer is the model's pooler.
    "labse": Preset("sentence-transformers/LaBSE", "pooler", normalize=True, max_tokens=256),
    # Wang et al. 2024: symmetric tasks put "query: " before both sides.
    "me5-base": Preset(
        "intfloat/multilingual-e5-base", normalize=True, prefix="query: ", max_tokens=512
    ),
    "me5-large": Preset(
        "intfloat/multilingual-e5-large", normalize=True, prefix="query: ", max_tokens=512
    ),
    # Zhang et al. 2024: elastic sizes from 128 up. 512 of its 8,192 tokens hold any title and lead.
    "gte-multilingual-base": Preset(
        "Alibaba-NLP/gte-multilingual-base", "cls", normalize=True,
        levels=(128, 256, 512, 768), max_tokens=512, remote_code=True,
    ),
    "paraphrase-multilingual-mpnet": Preset(
        "sentence-transformers/paraphrase-multilingual-mpnet-base-v2", max_tokens=128
    ),
}  # fmt: skip

#: Cosines down to which clusters merge: theme, topic, story, at the three finest levels of an
#: encoder, where somebody measured them. For average linkage of titles with openings (about 300
#: characters), the mean of each language taken out; longer texts are more alike and need more.
THRESHOLDS: dict[str, tuple[float, ...]] = {
    # tests/bench/tuning.py, tuned on one half, measured on the other: themes BBC, AG News,
    # MasakhaNEWS and TNEWS, mean pairwise F1 0.52; topics and stories SemEval 2022 task 8, F1 0.66
    # and 0.60. From 0.05, 0.21, 0.29 to 0.09, 0.25, 0.37 the F1 tuned on loses at most 0.01.
    BUILT_IN: (0.07, 0.23, 0.33),
}


def names() -> list[str]:
    """Every preset, the built-in one first."""
    return [BUILT_IN, *PRESETS]
