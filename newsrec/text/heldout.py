"""Development splits for encoders: cut here, and kept out of training by `pool.Gatherer`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from newsrec.languages import canonical
from newsrec.text.groups import Group, flores, lines, ntrex, sib_rows, tatoeba
from newsrec.text.pool import leak_key

#: The twelve languages of each bitext test, and the fourteen of xMIND.
TATOEBA = ("fin", "jpn", "tur", "swh", "vie", "deu", "ind", "tha", "tam", "kat", "ron", "cmn")
NTREX = ("fin", "ind", "jpn", "kat", "cmn", "ron", "som", "swh", "tam", "tha", "tur", "vie")
SIB = (
    "fin", "grn", "hat", "ind", "jpn", "kat", "cmn",
    "ron", "som", "swh", "tam", "tha", "tur", "vie",
)  # fmt: skip

# One English sentence in this many is held out, in every language it was translated to; where a
# language has few pairs its sentences are held out more often.
_ONE_IN = 14
_ONE_IN_SMALL = {"ron": 7, "ind": 6, "vie": 4, "tha": 3, "kat": 3, "swh": 1, "tam": 1}
# Sizes of the English pool, those of the public Tatoeba test sets; 1,000 elsewhere.
_POOL = {"swh": 390, "tam": 307, "kat": 746, "tha": 548}
_NTREX_POOL = 300


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What no training text may equal.

    tatoeba: language -> (texts, their English, extra English that only fills the pool);
    ntrex: language -> 300 aligned texts; sib: language -> part -> (categories, texts), parts
    ``train`` and ``dev``; keys: `leak_key` of every held-out text; ntrex_lines, flores_lines:
    the lines not to train on.
    """

    tatoeba: dict[str, tuple[list[str], list[str], list[str]]]
    ntrex: dict[str, list[str]]
    sib: dict[str, dict[str, tuple[list[str], list[str]]]]
    keys: frozenset[str]
    ntrex_lines: frozenset[int]
    flores_lines: frozenset[int]


def _held(key: str, language: str) -> bool:
    number = int.from_bytes(blake2b(key.encode(), digest_size=4).digest(), "big")
    return number % _ONE_IN == 0 or number % _ONE_IN_SMALL.get(language, _ONE_IN) == 0


def _tatoeba(folder: Path) -> tuple[dict[str, tuple[list[str], list[str], list[str]]], set[str]]:
    pairs: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for (_, english), (language, text) in tatoeba(folder):
        key = leak_key(english)
        if key and leak_key(text) and _held(key, language):
            pairs[language].setdefault(key, (text, english))
    everywhere = {key: english for found in pairs.values() for key, (_, english) in found.items()}
    filler = sorted(everywhere, key=lambda key: blake2b(key.encode()).digest())
    keys = set(everywhere) | {leak_key(t) for found in pairs.values() for t, _ in found.values()}
    sets = {}
    for language in TATOEBA:
        size = _POOL.get(language, 1000)
        own = list(pairs[language].items())[:size]
        rest = [everywhere[key] for key in filler if key not in pairs[language]]
        sets[language] = (
            [text for _, (text, _) in own],
            [english for _, (_, english) in own],
            rest[: size - len(own)],
        )
    return sets, keys


def _ntrex_lines(folder: Path) -> tuple[range, range]:
    """Line numbers to keep out (whole documents) and, among them, the test pool."""
    documents = lines(folder / "DOCUMENT_IDS.tsv.gz")
    pool = range(max(0, len(documents) - _NTREX_POOL), len(documents))
    return range(documents.index(documents[pool.start]), len(documents)), pool


def _pick(groups: list[Group], numbers: range) -> dict[str, list[str]]:
    """Language -> its text in each of these groups; the first where a language has two."""
    picked: dict[str, list[str]] = defaultdict(list)
    for number in numbers:
        for language, text in dict(reversed(groups[number])).items():
            picked[language].append(text)
    return picked


def _sib(
    folder: Path,
) -> tuple[dict[str, dict[str, tuple[list[str], list[str]]]], set[str], set[int]]:
    sets: dict[str, dict[str, tuple[list[str], list[str]]]] = {}
    keys: set[str] = set()
    indices: set[int] = set()
    for path in sorted(folder.glob("*")):
        language = canonical(path.name.split("_")[0])
        parts = {part: sib_rows(path / f"{part}.tsv.gz") for part in ("train", "dev")}
        keys |= {leak_key(text) for _, text in parts["dev"].values()}
        indices |= set(parts["dev"])
        if language not in sets and language in (*SIB, "eng"):
            sets[language] = {
                part: ([rows[i][0] for i in sorted(rows)], [rows[i][1] for i in sorted(rows)])
                for part, rows in parts.items()
            }
    return sets, keys, indices


def cut(data: Path) -> HeldOut:
    """Cut the development sets out of the shared data folder; the same cut every time."""
    pairs, keys = _tatoeba(data / "tatoeba")
    held, pool = _ntrex_lines(data / "ntrex")
    groups = list(ntrex(data / "ntrex"))
    keys |= {leak_key(text) for i in held for _, text in groups[i]}
    topics, topic_keys, indices = _sib(data / "sib200")
    spare = frozenset(i - 997 for i in indices if i >= 997)
    parallel = list(flores(data / "flores200_devtest"))
    keys |= {leak_key(text) for i in spare if i < len(parallel) for _, text in parallel[i]}
    return HeldOut(
        tatoeba=pairs,
        ntrex=_pick(groups, pool),
        sib=topics,
        keys=frozenset((keys | topic_keys) - {""}),
        ntrex_lines=frozenset(held),
        flores_lines=spare,
    )
