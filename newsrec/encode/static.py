"""The built-in encoder: a table of subword vectors, summed. numpy and tokenizers, no torch."""

from __future__ import annotations

import gzip
import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.encode.checked import as_texts
from newsrec.errors import DataError
from newsrec.files import atomic_folder
from newsrec.types import EncoderSpec, Ragged

BUNDLED = Path(__file__).parent / "mini"
_WEIGHTS, _PIECES, _CONFIG = "table.safetensors", "pieces.tsv.gz", "config.json"
_KEPT = "?!%$€£&+#@°"  # signs that carry meaning stay, each a word of its own
_BLOCK = 4096  # texts encoded together; bounds memory, changes no vector
_ROWS = 1 << 12  # vectors gathered at once, the same; fits a cache
_PLACES = 1 << 10  # places in a text that are told apart

#: Weight of a piece by its place: news says the most important things first. The 16 was chosen on
#: SemEval 2022 task 8, see scripts/EXPERIMENTS.md.
_LEAD = (1 / np.sqrt(1 + np.arange(_PLACES) / 16)).astype(np.float32)


class _CharMap(dict[int, str | int | None]):
    """Code point -> what replaces it, worked out when a character is first met."""

    def __init__(self, han: Mapping[str, str]) -> None:
        super().__init__({ord(a): b for a, b in han.items()})
        for quote in "’ʼ‘ʻ´`":  # an apostrophe is a letter in Guarani, Hausa, Somali
            self[ord(quote)] = "'"
        self[ord("'")] = "'"

    def __missing__(self, point: int) -> str | int | None:
        char, kind = chr(point), unicodedata.category(chr(point))
        value: str | int | None = point
        if char in _KEPT:
            value = f" {char} "
        elif kind == "Cf":  # joiners and direction marks
            value = None
        elif kind[0] in "PSCZ":
            value = " "
        elif kind == "Nd":
            value = str(unicodedata.digit(char))
        self[point] = value
        return value


class Cleaner:
    """Text as the tokenizer wants it: NFKC, lower case, simplified Han, words between spaces."""

    def __init__(self, han: Mapping[str, str]) -> None:
        self.han = dict(han)
        self._map = _CharMap(han)

    def __call__(self, text: str) -> str:
        return unicodedata.normalize("NFKC", text).lower().translate(self._map)


def build_tokenizer(pieces: Sequence[tuple[str, float]]) -> Any:
    """A unigram tokenizer of single words; piece 0 is the unknown one."""
    from tokenizers import Tokenizer, models

    return Tokenizer(models.Unigram(list(pieces), unk_id=0, byte_fallback=False))


def cut_words(tokenizer: Any, cleaned: Iterable[str]) -> tuple[Ragged, Ragged]:
    """``(words, pieces)``: word numbers of each cleaned text, piece numbers of each word.

    A word that comes twice is cut once. Its pieces are those of ``▁word``.
    """
    numbers: dict[str, int] = {}
    texts = [[numbers.setdefault(w, len(numbers)) for w in text.split()] for text in cleaned]
    found = tokenizer.encode_batch_fast([f"▁{word}" for word in numbers], add_special_tokens=False)
    return Ragged.from_lists(texts), Ragged.from_lists(one.ids for one in found)


def quantise(table: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """``(n, dim)`` to 4 bits: codes ``(n, dim / 2)`` and a step ``(n,)`` per row.

    A byte holds dimension i in its low half and dimension i + dim / 2 in its high half; the step
    is the best of a few for the squared error of the row.
    """
    top = np.maximum(np.abs(table).max(1), 1e-8)
    best = np.full(len(table), np.inf, np.float32)
    step = np.zeros(len(table), np.float16)
    for share in np.linspace(0.55, 1.0, 10):
        tried = (top * share / 7).astype(np.float16)
        tried = np.maximum(tried, np.float16(6e-8))
        error = (
            (np.clip(np.rint(table / tried[:, None]), -8, 7) * tried[:, None] - table) ** 2
        ).sum(1)
        better = error < best
        best[better], step[better] = error[better], tried[better]
    codes = (np.clip(np.rint(table / step[:, None].astype(np.float32)), -8, 7) + 8).astype(np.uint8)
    half = table.shape[1] // 2
    packed = codes[:, :half] | (codes[:, half:] << 4)
    return packed.astype(np.uint8), step


def unpack(codes: NDArray[np.uint8], step: NDArray[np.float16]) -> NDArray[np.float32]:
    """``codes (k, dim / 2)``, ``step (k,)`` to ``(k, dim)``, the inverse of `quantise`."""
    half = codes.shape[1]
    table = np.empty((len(codes), 2 * half), np.float32)
    table[:, :half] = codes & 15
    table[:, half:] = codes >> 4
    table -= 8
    table *= step.astype(np.float32)[:, None]
    return table


def _read_error(folder: Path, error: Exception) -> DataError:
    return DataError(
        f"{folder}: {error!s:.200}; expected the static encoder's {_WEIGHTS}, {_PIECES} and "
        f"{_CONFIG} as `StaticEncoder.write` leaves them. Reinstall newsrec, or run "
        "scripts/train_mini to make them."
    )


class StaticEncoder:
    """Sum of subword vectors, normalised; levels 64, 128, 256 are prefixes, renormalised.

    Piece k of a text, from 0, has the weight 1/√(1 + k/16), no less than that of piece 1,023; one
    that comes c times counts √c times its mean weight.

    A text without a known piece (empty, only punctuation) gets the zero vector: its dot product
    with everything is 0, so it neither helps nor hurts in late fusion. Raises `DataError` when
    the folder is missing or damaged. Objective: Zhao et al. 2024 (MPCL), equation 2.
    """

    name = "mini"
    normalized = True
    max_tokens: int | None = None  # a sum has no limit

    def __init__(self, folder: Path | None = None) -> None:
        folder = BUNDLED if folder is None else Path(folder)
        try:
            from safetensors.numpy import load

            files = {name: (folder / name).read_bytes() for name in (_WEIGHTS, _PIECES, _CONFIG)}
            config = json.loads(files[_CONFIG])
            arrays = load(files[_WEIGHTS])
            self._codes, self._step = arrays["codes"], arrays["step"]
            self._rows = gzip.decompress(files[_PIECES]).decode("utf-8").split("\n")
            self.levels: tuple[int, ...] = tuple(config["levels"])
            self._clean = Cleaner(dict(zip(*config["han"], strict=True)))
            shape = (len(self._rows) // 2, config["dim"] // 2)
            if self._codes.shape != shape or self._step.shape != shape[:1]:
                raise ValueError(f"table {self._codes.shape}, {shape[0]} pieces")
        except Exception as error:  # whatever is wrong with the files, the remedy is the same
            raise _read_error(folder, error) from error
        self._folder = folder
        self.dim: int = config["dim"]
        self.revision = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]

    @cached_property
    def _tokenizer(self) -> Any:
        """Built when the first text is encoded: a page of stored vectors never needs it."""
        try:
            names, scores = self._rows[0::2], self._rows[1::2]
            return build_tokenizer(list(zip(names, map(float, scores), strict=True)))
        except Exception as error:
            raise _read_error(self._folder, error) from error

    @property
    def spec(self) -> EncoderSpec:
        """What identifies the vectors."""
        return EncoderSpec(
            name=self.name,
            revision=self.revision,
            dim=self.dim,
            pooling="lead-sum",
            levels=self.levels,
            normalized=True,
            precision="int4",
        )

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Piece numbers of each text; 0, the unknown piece, has the zero vector."""
        words, pieces = cut_words(self._tokenizer, map(self._clean, texts))
        return [one.tolist() for one in words.through(pieces)]

    def cut(self, run: str) -> list[str]:
        """A run of letters in the tokenizer's pieces, as strings; unknown characters stay.

        Where folding changes no length (Han is simplified), the pieces are as long as the run.
        """
        word = "".join(self._clean(run).split())
        found = self._tokenizer.encode(f"▁{word}", add_special_tokens=False)
        return [word[max(a - 1, 0) : b - 1] for a, b in found.offsets if b > 1]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim) float32``, rows of length 1 (or 0: no known piece), in the order given."""
        texts = as_texts(texts)
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            words, pieces = cut_words(self._tokenizer, map(self._clean, block))
            found, weights = tally(words.through(pieces))
            used, place = np.unique(found.values, return_inverse=True)
            rows = unpack(self._codes[used], self._step[used])
            vectors[start : start + _BLOCK] = weighted_sums(found.like(place), weights, rows)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(length > 0, length, 1)
        return vectors


def tally(texts: Ragged) -> tuple[Ragged, NDArray[np.float32]]:
    """Each text's pieces once, and how much each counts, ``(nnz,)``: the sum of the weights of its
    places over the square root of how often it comes."""
    n = int(texts.values.max(initial=0)) + 1
    owner = texts.owner()
    place = np.minimum(np.arange(len(owner)) - texts.offsets[owner], _PLACES - 1)
    # Text, piece and place in one number: sorting it is much faster than sorting by three.
    keys = np.sort((owner * n + texts.values) * _PLACES + place)
    pairs, place = np.divmod(keys, _PLACES)
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    counts = np.diff(first, append=len(pairs))
    pieces = Ragged.from_lengths(
        pairs[first] % n, np.bincount(pairs[first] // n, minlength=len(texts))
    )
    if not len(first):
        return pieces, np.zeros(0, np.float32)
    weights = np.add.reduceat(_LEAD[place], first)
    weights /= np.sqrt(counts)
    return pieces, weights


def weighted_sums(
    lists: Ragged, weights: NDArray[np.float32], rows: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The sum of ``rows (k, dim)`` over every list of row numbers, ``(len(lists), dim)``.

    ``weights (nnz,)``. A sum does not depend on the other lists.
    """
    sums = np.zeros((len(lists), rows.shape[1]), np.float32)
    for same in lists.alike(_ROWS):
        square = lists.square(same)
        sums[same] = np.einsum("ml,mld->md", weights[square], rows[lists.values[square]])
    return sums


def write(
    folder: Path,
    table: NDArray[np.float32],
    pieces: Sequence[tuple[str, float]],
    han: Mapping[str, str],
    levels: Sequence[int],
) -> None:
    """Write what `StaticEncoder` reads: ``table (n_pieces, dim)`` at 4 bits, atomically."""
    from safetensors.numpy import save

    codes, step = quantise(table)
    step[0] = 0  # the unknown piece
    rows = "\n".join(f"{name}\n{score:.4g}" for name, score in pieces)
    config = {
        "dim": table.shape[1],
        "levels": list(levels),
        "han": ["".join(han), "".join(han.values())],
    }
    with atomic_folder(folder) as fresh:
        (fresh / _WEIGHTS).write_bytes(save({"codes": codes, "step": step}))
        (fresh / _PIECES).write_bytes(gzip.compress(rows.encode("utf-8"), 9, mtime=0))
        (fresh / _CONFIG).write_text(json.dumps(config, ensure_ascii=False), "utf-8")


def size(folder: Path = BUNDLED) -> int:
    """Bytes of weights, pieces and configuration."""
    return sum((folder / name).stat().st_size for name in (_WEIGHTS, _PIECES, _CONFIG))
