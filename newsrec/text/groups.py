"""The shared data folder as groups of translations, one small loader per source.

A group is a list of ``(language, text)`` that say the same thing; languages are ISO 639-3. Sources
that share an English side are joined later (`pool.merge`), which is what gives Finnish-Japanese
pairs without a Finnish-Japanese corpus.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from newsrec.languages import canonical

Text = tuple[str, str]  # (ISO 639-3 language, text)
Group = list[Text]


class Source(NamedTuple):
    """A row of `SOURCES`."""

    folder: str
    load: Callable[[Path], Iterator[Group]]
    licence: str
    what: str


def lines(path: Path) -> list[str]:
    """The lines of a gzipped UTF-8 file, without their ends."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\r\n") for line in file]


def cells(path: Path) -> Iterator[list[str]]:
    """Tab-separated cells of a gzipped file that quotes nothing."""
    for line in lines(path):
        yield line.split("\t")


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def _code(tag: str) -> str:
    """``zho-CN``, ``eng_Latn``, ``srp-Cyrl`` and ``en`` to ISO 639-3."""
    return canonical(re.split("[-_]", tag)[0])


def _aligned(paths: dict[str, Path]) -> Iterator[Group]:
    """Line i of every file is one group; blank lines are left out."""
    columns = [(language, lines(path)) for language, path in paths.items()]
    for i in range(min(len(column) for _, column in columns)):
        yield [(_code(tag), column[i]) for tag, column in columns if column[i].strip()]


def ntrex(folder: Path) -> Iterator[Group]:
    """One group per line of NTREX-128, in file order."""
    return _aligned({_stem(p): p for p in sorted(folder.glob("*.txt.gz"))})


def flores(folder: Path) -> Iterator[Group]:
    """One group per line of FLORES-200 devtest, in file order."""
    return _aligned({_stem(p): p for p in sorted(folder.glob("devtest/*.devtest.gz"))})


def sib_rows(path: Path) -> dict[int, tuple[str, str]]:
    """``index_id -> (category, text)`` of one SIB-200 file."""
    rows = csv.DictReader(lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)
    return {int(row["index_id"]): (row["category"], row["text"]) for row in rows}


def sib(folder: Path) -> Iterator[Group]:
    """SIB-200 *train* by index: FLORES lines in 41 languages."""
    groups: dict[int, Group] = defaultdict(list)
    for path in sorted(folder.glob("*/train.tsv.gz")):
        for index, (_, text) in sib_rows(path).items():
            groups[index].append((_code(path.parent.name), text))
    for index in sorted(groups):
        yield groups[index]


def tico19(folder: Path) -> Iterator[Group]:
    rows = cells(folder / "tico19_multiparallel.tsv.gz")
    tags = [canonical(tag) for tag in next(rows)[2:]]
    for row in rows:
        yield [(tag, text) for tag, text in zip(tags, row[2:], strict=False) if text.strip()]


def stsb(folder: Path) -> Iterator[Group]:
    """Both sentences of each row, machine-translated into ten languages."""
    for part in ("dev", "train"):
        files = sorted(folder.glob(f"stsb-*-{part}.csv.gz"))
        columns = [(_code(p.name.split("-")[1]), list(csv.reader(lines(p)))) for p in files]
        for i in range(min(len(rows) for _, rows in columns)):
            for side in (0, 1):
                yield [(language, rows[i][side]) for language, rows in columns]


def wmt(folder: Path) -> Iterator[Group]:
    """News test sets, without newstest2019 out of English: NTREX translates those sentences."""
    for path in sorted(folder.glob("*.tsv.gz")):
        rows = cells(path)
        header = next(rows)
        for row in rows:
            if len(row) == 5 and not (row[0] == "newstest2019" and row[1].startswith("eng-")):
                yield [(canonical(header[3]), row[3]), (canonical(header[4]), row[4])]


def mafand(folder: Path) -> Iterator[Group]:
    for pair in sorted(folder.iterdir()):
        other = pair.name.split("-")[1]
        for part in ("train", "dev"):
            yield from _aligned({"en": pair / f"{part}.en.gz", other: pair / f"{part}.{other}.gz"})


def tatoeba(folder: Path) -> Iterator[Group]:
    for path in sorted(folder.glob("eng-*.tsv.gz")):
        language = canonical(_stem(path).split("-")[1])
        for row in cells(path):
            if len(row) == 2:
                yield [("eng", row[0]), (language, row[1])]


def guarani(folder: Path) -> Iterator[Group]:
    for part in ("train", "dev"):
        yield from _aligned({"es": folder / f"{part}.es.gz", "gn": folder / f"{part}.gn.gz"})


def haitian(folder: Path) -> Iterator[Group]:
    """MIT-Haiti sentences by id, and the MCTest stories in English and two Haitian versions."""
    for other in ("en", "fr", "es"):
        stem = f"nlg__mit_haiti__data__ht-{other}"
        if (folder / f"{stem}.trg.gz").exists():
            sides = [
                dict(row for row in cells(folder / f"{stem}.{side}.gz") if len(row) == 2)
                for side in ("src", "trg")
            ]
            for index in sorted(sides[0].keys() & sides[1].keys()):
                yield [(canonical(other), sides[0][index]), ("hat", sides[1][index])]
    stories = sorted(folder.glob("nlu__mctest__*.json.gz"))
    columns = [[str(json.loads(line)["story"]) for line in lines(path)] for path in stories]
    for group in dict.fromkeys(zip(*columns, strict=False)):
        yield [
            ("hat" if "Hat" in p.name else "eng", t) for p, t in zip(stories, group, strict=True)
        ]


def udhr(folder: Path) -> Iterator[Group]:
    """The Declaration by article number."""
    groups: dict[str, Group] = defaultdict(list)
    for path in sorted(folder.glob("udhr_*.xml.gz")):
        tag = path.name.split("_")[1].split(".")[0]
        language = "grn" if tag == "gug" else canonical(tag)
        found = re.findall(r'<article number="(\d+)">(.*?)</article>', "\n".join(lines(path)), re.S)
        for number, body in found:
            body = re.sub(r"<title>.*?</title>", " ", body, flags=re.S)
            groups[number].append((language, " ".join(re.sub("<[^>]+>", " ", body).split())))
    for number in sorted(groups, key=int):
        yield groups[number]


def wmt22_docs(folder: Path) -> Iterator[Group]:
    """Sentences of the aligned documents whose two sides have as many sentences."""
    for line in lines(folder / "wmt22_docs.jsonl.gz"):
        doc = json.loads(line)
        source, target = (canonical(tag) for tag in doc["pair"].split("-"))
        for translation in list(doc["refs"].values())[:1]:
            if len(translation) == len(doc["src"]):
                for a, b in zip(doc["src"], translation, strict=True):
                    yield [(source, a), (target, b)]


def headlines(folder: Path) -> Iterator[Group]:
    """A MasakhaNEWS headline and the opening of its own article, in one language."""
    for path in sorted(folder.glob("*/*.tsv.gz")):
        language = canonical(path.parent.name)
        rows = csv.DictReader(lines(path), delimiter="\t")
        for row in rows:
            if row.get("headline") and row.get("text"):
                yield [(language, row["headline"]), (language, row["text"][:400])]


def muse(folder: Path) -> Iterator[Group]:
    for path in sorted(folder.glob("en-*.dict.gz")):
        language = canonical(_stem(path).split("-")[1])
        for line in lines(path):
            target, at, english = line.partition(" @ ")
            if at and english != target:  # names that are the same word teach nothing
                yield [("eng", english), (language, target)]


_WIKTIONARY = {
    "chinese": "cmn", "finnish": "fin", "georgian": "kat", "haitian_creole": "hat",
    "indonesian": "ind", "japanese": "jpn", "mby_guaran": "grn", "paraguayan_guaran": "grn",
    "romanian": "ron", "somali": "som", "swahili": "swh", "tamil": "tam", "thai": "tha",
    "turkish": "tur", "vietnamese": "vie",
}  # fmt: skip


def wiktionary(folder: Path) -> Iterator[Group]:
    for path in sorted(folder.glob("*.txt.gz")):
        for row in cells(path):
            if len(row) == 2:
                yield [("eng", row[0]), (_WIKTIONARY[_stem(path)], row[1])]


def panlex(folder: Path) -> Iterator[Group]:
    """Dictionaries between languages other than English: a word and all its translations."""
    for path in sorted(folder.glob("*-l2.zip")):
        groups: dict[str, Group] = {}
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.namelist()):
                if not member.endswith(("train.5000.cc.trans", "test.2000.cc.trans")):
                    continue
                a, b = (canonical(tag) for tag in member.split("/")[0].split("-"))
                for line in io.TextIOWrapper(archive.open(member), "utf-8"):
                    words = line.split()
                    if len(words) == 2:
                        group = groups.setdefault(words[0], [(a, words[0].replace("_", " "))])
                        group.append((b, words[1].replace("_", " ")))
        yield from groups.values()


def english(folder: Path) -> Iterator[Group]:
    """English only: AG News headlines, each with its opening."""
    with gzip.open(folder / "test.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            yield [("eng", row[1]), ("eng", row[2])]


#: name -> where it lies, how it is read, its licence, what it is (the card prints this table)
SOURCES: dict[str, Source] = {
    "ntrex": Source("ntrex", ntrex, "CC BY-SA 4.0", "news sentences, 52 languages"),
    "flores": Source("flores200_devtest", flores, "CC BY-SA 4.0", "sentences, 41 languages"),
    "sib": Source("sib200", sib, "Apache-2.0", "FLORES sentences of SIB-200 train, no labels"),
    "tico19": Source("tico19", tico19, "CC0", "health sentences, 19 languages"),
    "stsb": Source("stsb_multi_mt", stsb, "as STSb", "captions and headlines, 11 languages (MT)"),
    "wmt": Source("wmt_newstest", wmt, "WMT: research", "news test sets, English and one other"),
    "mafand": Source("mafand", mafand, "CC BY-NC 4.0", "news, English and African languages"),
    "tatoeba": Source("tatoeba", tatoeba, "CC BY 2.0 FR", "short sentences, 34 languages"),
    "guarani": Source(
        "guarani_spanish_americasnlp2021", guarani, "none stated", "Guarani and Spanish"
    ),
    "haitian": Source(
        "haitian_creoleval", haitian, "CC 4.0 / Microsoft (MCTest)", "Haitian sentences, stories"
    ),
    "udhr": Source("udhr", udhr, "none stated", "the Declaration, 34 languages"),
    "wmt22_docs": Source("wmt22_docs", wmt22_docs, "none stated", "documents, 7 pairs"),
    "headlines": Source(
        "masakhanews", headlines, "non-commercial", "headline and opening, same language"
    ),
    "english": Source("ag_news", english, "non-commercial", "AG News headlines and openings"),
    "muse": Source("muse_dict", muse, "CC BY-NC 4.0", "dictionaries, 31 languages"),
    "wiktionary": Source("wiktionary_dict_wechsel", wiktionary, "MIT", "dictionaries"),
    "panlex": Source("panlex_bli", panlex, "Apache-2.0", "dictionaries without English"),
}
