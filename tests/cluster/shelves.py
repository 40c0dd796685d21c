"""Small shelves of made-up news in two languages, with vectors of the built-in encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newsrec.encode import load_encoder
from newsrec.types.clusters import ClusterTree
from newsrec.types.texts import Strings, Texts

ENCODER = load_encoder("mini")

ENGLISH = (
    ("The ferry strike stops all boats", "The ferry strike enters its second week."),
    ("Ferry strike: crews want more pay", "Boats stay in the harbour."),
    ("A ferry strike ends at last", "The crews return to the boats."),
    ("New vaccine against measles", "Doctors praise the measles vaccine."),
    ("Measles vaccine for every child", "The clinic has the vaccine in stock."),
    ("Clinic runs out of measles vaccine", "Doctors ask for help."),
)
FINNISH = (
    ("Lauttalakko pysäyttää laivat", "Lauttalakko jatkuu toista viikkoa."),
    ("Lauttalakko: miehistö vaatii palkkaa", "Laivat pysyvät satamassa."),
    ("Lauttalakko päättyi", "Miehistö palaa laivoille."),
    ("Uusi rokote tuhkarokkoon", "Lääkärit kehuvat rokotetta."),
    ("Rokote jokaiselle lapselle", "Klinikalla on rokotetta."),
    ("Klinikalta loppui rokote", "Lääkärit pyytävät apua."),
)


def texts(
    language: str, rows: Sequence[tuple[str, str]], present: Sequence[bool] | None = None
) -> Texts:
    here = np.ones(len(rows), np.bool_) if present is None else np.array(present)
    kept = [row if here[i] else ("", "") for i, row in enumerate(rows)]
    title, abstract = zip(*kept, strict=True) if kept else ((), ())
    return Texts(language, Strings.pack(title), Strings.pack(abstract), here)


def vectors(shelf: Texts) -> np.ndarray:
    found = np.zeros((len(shelf), ENCODER.dim), np.float32)
    found[shelf.rows] = ENCODER.encode(shelf.view("title+abstract"))
    return found


def tree(*levels: Sequence[int]) -> ClusterTree:
    labels = np.array(levels, np.int32)
    return ClusterTree(labels, (256,) * len(labels), (0.5,) * len(labels))
