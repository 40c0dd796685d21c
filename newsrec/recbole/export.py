"""A corpus as a folder of RecBole's atomic files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from newsrec import build
from newsrec.config import parse_config
from newsrec.corpus import Corpus
from newsrec.encode import EmbeddingStore
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.files import atomic_folder, write_json
from newsrec.languages import canonical
from newsrec.pipeline.stored import Words, remade
from newsrec.places import check_writable
from newsrec.recbole.atomic import tokens, vector, write_atomic
from newsrec.recbole.events import Events, events
from newsrec.types import Embeddings, NewsTable

FORMAT = "newsrec recbole export"
_MARK = "newsrec.json"

#: What RecBole is told of the columns.
FIELDS: dict[str, Any] = {
    "field_separator": "\t",
    "seq_separator": " ",
    "USER_ID_FIELD": "user_id",
    "ITEM_ID_FIELD": "item_id",
    "TIME_FIELD": "place",
}
_INTER = ("user_id:token", "item_id:token", "place:float", "timestamp:float")


def export(
    corpus: Corpus,
    folder: Path,
    splits: Sequence[str] = (),
    embeddings: Mapping[str, Callable[[], Embeddings]] | None = None,
) -> dict[str, int]:
    """Write ``folder`` whole or not at all, and return rows by file.

    ``splits``, earliest first (none: all that are labelled), become ``NAME.SPLIT.inter``, or
    ``NAME.inter`` where it is one; NAME is the folder's. The first comes with what its readers had
    read before; histories of later ones hold clicks of earlier ones, and stay out. ``embeddings``
    by language become ``NAME.itememb``, or ``NAME.itememb_LANGUAGE`` where there are several.

    Raises `DataError` for a folder that holds anything but an earlier export, an unlabelled split,
    or none.
    """
    refuse_foreign(folder)
    chosen, found = _splits(corpus, splits), dict(embeddings or {})
    name, counts = folder.absolute().name, {}
    users, items = tokens(corpus.users.tolist()), tokens(corpus.news.ids.tolist())
    with atomic_folder(folder) as work:
        for split, part in chosen.items():
            file = f"{name}.inter" if len(chosen) == 1 else f"{name}.{split}.inter"
            counts[file] = write_events(work / file, part, users, items)
        counts[f"{name}.user"] = write_atomic(
            work / f"{name}.user", ["user_id:token"], ([user] for user in users)
        )
        counts[f"{name}.item"] = write_atomic(
            work / f"{name}.item", _ITEM, _item_rows(corpus.news, items)
        )
        for language, get in found.items():
            suffix = _suffix(language, found)
            counts[f"{name}.{suffix}"] = _write_vectors(work / f"{name}.{suffix}", items, get())
        _write_config(work / "recbole.yaml", list(chosen), list(found))
        told = {"format": FORMAT, "corpus": corpus.fingerprint, "rows": counts}
        write_json(work / _MARK, told)
    return counts


def write_events(path: Path, found: Events, users: list[str], items: list[str]) -> int:
    """``.inter`` of ``found``; ``users``, ``items`` are the tokens of all readers and articles."""
    seconds = np.where(np.isnat(found.time), 0, found.time.astype(np.int64))
    times = np.where(np.isnat(found.time), "", seconds.astype(np.str_)).tolist()
    columns = zip(
        found.user.tolist(), found.item.tolist(), found.place.tolist(), times, strict=True
    )
    rows = ((users[u], items[i], str(place), time) for u, i, place, time in columns)
    return write_atomic(path, _INTER, rows)


def refuse_foreign(folder: Path) -> None:
    """`DataError` unless ``folder`` is new, empty or an earlier export, which writing replaces."""
    check_writable(folder, "--out")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        told = json.loads((folder / _MARK).read_text("utf-8"))
    except (OSError, ValueError):
        told = None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise DataError(
            f"--out: {folder} holds files that are no RecBole export of newsrec, which writing "
            "there would delete; name a new or an empty folder"
        )
    foreign = sorted({path.name for path in folder.iterdir()} - {_MARK, "recbole.yaml"}
                     - set(told.get("rows", ())))  # fmt: skip
    if foreign:
        raise DataError(f"--out: {folder} holds {foreign[0]!r}, which writing there would delete")


def _splits(corpus: Corpus, wanted: Sequence[str]) -> dict[str, Events]:
    for name in wanted:
        if name not in corpus.splits:
            raise unknown_name(f"split of corpus {corpus.name!r}:", name, corpus.splits)
    labelled = [s for s in corpus.splits if corpus.impressions(s).clicked is not None]
    chosen = list(dict.fromkeys(wanted)) or labelled
    if not chosen:
        raise DataError(f"corpus {corpus.name!r} has no labelled split, nothing to export")
    return {
        split: events(corpus.impressions(split), histories=i == 0) for i, split in enumerate(chosen)
    }


_ITEM = ("item_id:token", "category:token", "subcategory:token", "published:float", "story:token")


def _item_rows(news: NewsTable, items: list[str]) -> Iterator[tuple[str, ...]]:
    category = ["", *tokens(news.category_names)]
    subcategory = ["", *tokens(news.subcategory_names)]
    for i, item in enumerate(items):
        time, story = news.published[i], int(news.story[i])
        yield (
            item,
            category[int(news.category[i]) + 1],
            subcategory[int(news.subcategory[i]) + 1],
            "" if np.isnat(time) else str(time.astype("datetime64[s]").astype(np.int64)),
            "" if story < 0 else str(story),
        )


def _suffix(language: str, all_of: Mapping[str, object]) -> str:
    return "itememb" if len(all_of) == 1 else f"itememb_{language}"


def _columns(language: str, n: int) -> tuple[str, str]:
    """Names of the id and the vector column; RecBole wants other ones in every file."""
    return ("iid", "item_emb") if n == 1 else (f"iid_{language}", f"item_emb_{language}")


def _write_vectors(path: Path, items: list[str], found: Embeddings) -> int:
    language = path.suffix.removeprefix(".itememb").removeprefix("_")
    ids, values = _columns(language, 1 if not language else 2)
    rows = np.flatnonzero(found.present).tolist()
    lines = ((items[row], vector(np.asarray(found.vectors[row]))) for row in rows)
    return write_atomic(path, (f"{ids}:token", f"{values}:float_seq"), lines)


def _write_config(path: Path, splits: list[str], languages: list[str]) -> None:
    """``recbole.yaml``: what RecBole must know of the files."""
    load: dict[str, list[str]] = {"inter": ["user_id", "item_id", "place"]}
    config: dict[str, Any] = {**FIELDS, "load_col": load}
    if len(splits) == 3:
        config["benchmark_filename"] = splits
    if languages:
        pairs = {language: _columns(language, len(languages)) for language in languages}
        suffixes = {language: _suffix(language, pairs) for language in languages}
        load.update({suffixes[language]: list(pair) for language, pair in pairs.items()})
        config["additional_feat_suffix"] = list(suffixes.values())
        config["alias_of_item_id"] = [ids for ids, _ in pairs.values()]
        config["preload_weight"] = dict(pairs.values())
    about = (
        "# run_recbole(model=…, dataset=NAME, config_file_list=[this file],\n"
        "#             config_dict={'data_path': the folder that holds NAME})\n"
    )
    path.write_text(about + yaml.safe_dump(config, sort_keys=False, allow_unicode=True), "utf-8")


def checked_languages(corpus: Corpus, words: Sequence[str]) -> tuple[str, ...]:
    """ISO 639-3 codes of languages that the corpus has; `ConfigError` for others."""
    codes = tuple(dict.fromkeys(canonical(word, "--langs") for word in words))
    for code in codes:
        if code not in corpus.languages:
            raise unknown_name(f"--langs of corpus {corpus.name!r}:", code, corpus.languages)
    if not codes:
        raise ConfigError("--langs: no language named, expected one like fin, or several: fin,eng")
    return codes


def vectors_of(
    corpus: Corpus,
    encoder: str,
    languages: Sequence[str],
    view: str,
    trust_remote_code: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> dict[str, Callable[[], Embeddings]]:
    """How to get the vectors of each language from the store; ``encoder`` as in `newsrec.config`,
    loaded only where there is a language."""
    if not languages:
        return {}
    named = parse_config({"encoders": [encoder]}, "--encoder").encoders[0]
    loaded, store = build.encoder(named, trust_remote_code), EmbeddingStore()

    def getter(language: str) -> Callable[[], Embeddings]:
        def get() -> Embeddings:
            with remade(corpus, language, view, Words(named.label, trust_remote_code)):
                return store.get(
                    loaded, corpus.texts(language), view, corpus.fingerprint,
                    on_progress=on_progress,
                )  # fmt: skip

        return get

    return {language: getter(language) for language in languages}
