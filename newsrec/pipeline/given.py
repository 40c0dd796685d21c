"""Articles that are given as texts, and the nouns of a request that is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError, unknown_name
from newsrec.languages import canonical
from newsrec.types import Impressions, NewsTable, Ragged, Strings, Texts
from newsrec.types.news import NAT

#: An article as it is given: its title, or a mapping of `FIELDS`.
Given = str | Mapping[str, Any]
#: What a reader read, oldest first, and what is to be scored.
Row = tuple[Sequence[Given], Sequence[Given]]

_TEXTS = ("title", "abstract", "body")
#: What may be told of an article.
FIELDS = (*_TEXTS, "language", "category", "entities")
_LANGUAGE = "eng"
#: ISO 639-2 for "multiple languages".
_MIXED = "mul"


@dataclass(frozen=True, slots=True)
class GivenArticle:
    """``language``: ISO 639-3; ``category`` "" unknown; ``entities``: Wikidata ids."""

    title: str = ""
    abstract: str = ""
    body: str = ""
    language: str = _LANGUAGE
    category: str = ""
    entities: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Given, where: str) -> GivenArticle:
        """``given`` checked. `DataError` begins with ``where`` and names what is wrong.

        What is None counts as not given.
        """
        if isinstance(given, str):
            return cls(title=given)
        if not isinstance(given, Mapping):
            raise DataError(
                f"{where}: {_kind(given)}, expected an article: its title, or a mapping of "
                f"{', '.join(FIELDS)}"
            )
        told = {key: value for key, value in given.items() if value is not None}
        for key in told:
            if key not in FIELDS:
                raise DataError(f"{where}: {unknown_name('field of an article', str(key), FIELDS)}")
        entities = told.pop("entities", ())
        for key, value in told.items():
            if not isinstance(value, str):
                raise DataError(f"{where}: {key} is {_kind(value)}, expected text")
        if "language" in told:
            told["language"] = canonical(told["language"], where)
        names = tuple(_items(entities, f"{where}: entities", "a list of Wikidata ids"))
        if not all(isinstance(name, str) for name in names):
            raise DataError(f"{where}: entities are not all text, expected Wikidata ids")
        return cls(**told, entities=names)


def read_row(row: Row, where: str) -> tuple[list[GivenArticle], list[GivenArticle]]:
    """History and candidates of ``row``, checked; `DataError` begins with ``where``."""
    parts = []
    for name, given in zip(("history", "candidates"), row, strict=True):
        found = _items(given, f"{where}{name}", "a list of articles")
        parts.append([GivenArticle.of(one, f"{where}{name}[{i}]") for i, one in enumerate(found)])
    return parts[0], parts[1]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request as nouns: each distinct article is a row, whatever its language.

    ``languages``: those of the articles; ``of (n_news,)`` numbers the one of each.
    """

    news: NewsTable
    texts: Texts
    impressions: Impressions
    languages: tuple[str, ...]
    of: NDArray[np.int64]

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[list[GivenArticle], list[GivenArticle]]]) -> Asked:
        """One impression for each of ``rows (n,)``."""
        number: dict[GivenArticle, int] = {}
        lists = [
            [[number.setdefault(one, len(number)) for one in part] for part in row] for row in rows
        ]
        articles, n = list(number), len(rows)
        languages = tuple(dict.fromkeys(one.language for one in articles))
        impressions = Impressions(
            ids=np.arange(n).astype(np.str_),
            user=np.zeros(n, np.int32),
            time=np.full(n, NAT),
            history=Ragged.from_lists(history for history, _ in lists),
            history_of=np.arange(n, dtype=np.int32),
            candidates=Ragged.from_lists(candidates for _, candidates in lists),
        )
        of = np.array([languages.index(one.language) for one in articles], np.int64)
        return cls(_news(articles), _texts(articles, languages), impressions, languages, of)


def _texts(articles: Sequence[GivenArticle], languages: tuple[str, ...]) -> Texts:
    code = languages[0] if len(languages) == 1 else _MIXED
    parts = {name: Strings.pack(getattr(one, name) for one in articles) for name in _TEXTS}
    told = [any(getattr(one, name).strip() for name in _TEXTS) for one in articles]
    return Texts(code, parts["title"], parts["abstract"], np.array(told, np.bool_), parts["body"])


def _news(articles: Sequence[GivenArticle]) -> NewsTable:
    n = len(articles)
    categories, category = _coded((one.category for one in articles), lambda name: name != "")
    entities, entity = _coded(name for one in articles for name in one.entities)
    lengths = np.array([len(one.entities) for one in articles], np.int64)
    return NewsTable(
        ids=np.arange(n).astype(np.str_),
        category=category.astype(np.int16),
        subcategory=np.full(n, -1, np.int16),
        category_names=categories,
        subcategory_names=(),
        published=np.full(n, NAT),
        story=np.full(n, -1, np.int32),
        entities=Ragged.from_lengths(entity.astype(np.int32), lengths) if entities else None,
        entity_names=entities,
    )


def _coded(
    names: Iterable[str], known: Callable[[str], bool] = lambda _: True
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The distinct ``names`` that are ``known``, and for each name its number, -1 unknown."""
    number: dict[str, int] = {}
    codes = [number.setdefault(x, len(number)) if known(x) else -1 for x in names]
    return tuple(number), np.array(codes, np.int64)


def _items(given: Any, where: str, wanted: str) -> list[Any]:
    if isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1):
        return list(given)
    raise DataError(f"{where}: {_kind(given)}, expected {wanted}")


def _kind(value: object) -> str:
    if isinstance(value, str):
        return f"text {value[:40]!r}"
    return "nothing" if value is None else type(value).__name__
