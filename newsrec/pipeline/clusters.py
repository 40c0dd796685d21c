"""The clusters of a corpus: made once per shelf, encoder and thresholds, then read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.days import Changes
from newsrec.cluster.levels import check_vectors, cluster_levels, dims_of, levels_of
from newsrec.cluster.renewal import Today, renew
from newsrec.cluster.shelf import ClusteredShelf
from newsrec.cluster.store import load_clusters, save_clusters
from newsrec.corpus import Corpus
from newsrec.encode.presets import THRESHOLDS
from newsrec.errors import ConfigError, DataError, StaleCacheError, unknown_name
from newsrec.files import data_root
from newsrec.languages import canonical
from newsrec.pipeline.vectors import VIEW, Vectors
from newsrec.types import EncoderSpec
from newsrec.types.embeddings import unit_rows

_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class Cut:
    """How a shelf is cut into clusters; empty or None stands for what fits corpus and encoder.

    ``languages`` whose texts are looked at (all that the corpus has, on any later day, too);
    ``thresholds`` (the measured ones of the encoder's preset) and ``dims`` (its finest Matryoshka
    levels), coarse to fine; see `newsrec.cluster.levels.cluster_levels` for the rest.
    """

    languages: tuple[str, ...] = ()
    thresholds: tuple[float, ...] = ()
    dims: tuple[int, ...] = ()
    linkage: str = "average"
    direction: str = "refine"
    any_order: bool = False

    def fitted(self, corpus: Corpus, encoder: EncoderSpec) -> Cut:
        """Every choice made, except that all languages stay all; `ConfigError` for a language or a
        size that there is not, and for an encoder whose thresholds nobody has measured."""
        languages = tuple(canonical(code, "--lang") for code in self.languages)
        for code in languages:
            if code not in corpus.languages:
                raise unknown_name(f"language of corpus {corpus.name!r}", code, corpus.languages)
        thresholds = self.thresholds or THRESHOLDS.get(encoder.name, ())
        if not thresholds:
            measured = ", ".join(sorted(THRESHOLDS))
            raise ConfigError(
                f"{encoder.name}: no thresholds were measured for this encoder (only for "
                f"{measured}). Choose them by judged pairs (newsrec cluster tune), make clusters "
                "with them (newsrec cluster build --thresholds A,B,C --out FILE) and give those: "
                "--clusters FILE"
            )
        dims = dims_of(encoder, len(thresholds), self.dims)
        levels_of(thresholds, dims, any_order=self.any_order)
        return Cut(languages, thresholds, dims, self.linkage, self.direction, self.any_order)


def clusters(
    corpus: Corpus, vectors: Vectors, cut: Cut | None = None, *, path: Path | None = None
) -> ClusteredShelf:
    """The clusters of ``corpus`` as ``vectors``' encoder sees it; made and kept where they are not.
    The articles of the tree are the rows of its news.

    ``path``: a file to read (`of_file`), by whatever encoder it was made; None: the place under
    ``data/clusters`` that belongs to corpus, encoder and ``cut``.
    """
    ids = np.asarray(corpus.news.ids)
    if path is not None:
        return of_file(corpus, path)
    fitted = (cut or Cut()).fitted(corpus, vectors.encoder.spec)
    place = place_of(corpus, vectors.encoder.spec, fitted)
    kept = _kept(place, _origin(corpus, vectors.encoder.spec, fitted))
    return make_clusters(corpus, vectors, fitted, place) if kept is None else kept.over(ids)


def _kept(place: Path, origin: Mapping[str, Any]) -> ClusteredShelf | None:
    """The clusters in a place of their own; None where they are missing or damaged: they are made
    again. Those of another ``origin``, written there by --out or an update, may be dear to someone:
    `StaleCacheError`."""
    try:
        shelf = load_clusters(place) if place.exists() else None
    except StaleCacheError:
        return None
    plain = json.loads(json.dumps(origin))
    wrong = [] if shelf is None else [key for key in plain if shelf.made.get(key) != plain[key]]
    if shelf is not None and wrong:
        raise StaleCacheError(
            f"{place}: other clusters (of corpus {shelf.made.get('corpus_name')!r}; "
            f"{', '.join(wrong)} differ) than belong there; move the file away or delete it, and "
            f"those of corpus {plain['corpus_name']!r} are made again"
        )
    return shelf


def of_file(corpus: Corpus, path: Path) -> ClusteredShelf:
    """The clusters in ``path`` over the rows of ``corpus``'s news; `DataError` for those of another
    corpus: fewer than half of its articles are in them."""
    shelf = load_clusters(path)
    known = np.isin(np.asarray(corpus.news.ids), shelf.articles)
    if 2 * np.count_nonzero(known) < len(known) or not len(known):
        raise DataError(
            f"{path}: clusters of {shelf.made.get('corpus_name', 'another corpus')}, which has "
            f"{np.count_nonzero(known)} of the {len(known)} articles of {corpus.name!r}; build "
            "them for this corpus, or bring them up to date: newsrec cluster update"
        )
    return shelf.over(np.asarray(corpus.news.ids))


def make_clusters(corpus: Corpus, vectors: Vectors, cut: Cut, path: Path) -> ClusteredShelf:
    """Cluster anew by a `Cut` that is fitted, and write it to ``path``."""
    today = shelf_today(corpus, vectors, cut.languages or corpus.languages, cut.dims)
    levels = levels_of(cut.thresholds, cut.dims, any_order=cut.any_order)
    found = cluster_levels(
        today.vectors, levels, linkage=cut.linkage, direction=cut.direction, present=today.present
    )
    made = {**_origin(corpus, vectors.encoder.spec, cut), "recall": found.recall}
    shelf = ClusteredShelf.new(found.tree, today.articles, made)
    save_clusters(path, shelf)
    return shelf


def renewed(
    old: ClusteredShelf,
    corpus: Corpus,
    vectors: Vectors,
    *,
    whole: bool = False,
    window: np.timedelta64 | None = None,
) -> tuple[ClusteredShelf, tuple[Changes, ...]]:
    """``old`` clusters with the articles that ``corpus`` has now; see `newsrec.cluster.renewal`.

    `ConfigError` for an encoder that is not the one of the clusters.
    """
    made, spec = old.made, vectors.encoder.spec
    if made.get("encoder", {}).get("revision") != spec.revision:
        was = made.get("encoder", {})
        raise ConfigError(
            f"--encoder: {spec.name} {spec.revision}, the clusters were made with "
            f"{was.get('name')} {was.get('revision')}; use it, or build new ones"
        )
    kept = np.count_nonzero(np.isin(old.articles, np.asarray(corpus.news.ids)))
    if not kept:
        raise DataError(
            f"--clusters: none of its {len(old.articles)} articles (of "
            f"{made.get('corpus_name', 'another corpus')}) is in corpus {corpus.name!r}; name the "
            "right one: --corpus"
        )
    today = shelf_today(corpus, vectors, _languages_today(made, corpus), old.tree.dims)
    shelf, changes = renew(
        old, today, whole=whole, linkage=made["linkage"], direction=made["direction"],
        window=window,
    )  # fmt: skip
    made = {**made, "corpus": corpus.fingerprint, "corpus_name": corpus.name}
    return replace(shelf, made=made), changes


def _languages_today(made: Mapping[str, Any], corpus: Corpus) -> Sequence[str]:
    """Those of ``corpus`` that the clusters look at; `DataError` where it has none of them."""
    chosen = made.get("languages") or corpus.languages
    found = [code for code in chosen if code in corpus.languages]
    if not found:
        raise DataError(
            f"--clusters: made of texts in {', '.join(chosen)}, corpus {corpus.name!r} has only "
            f"{', '.join(corpus.languages)}; build new clusters for it: newsrec cluster build"
        )
    return found


def shelf_today(
    corpus: Corpus, vectors: Vectors, languages: Sequence[str], dims: Sequence[int]
) -> Today:
    """All articles of ``corpus``, each the mean of its texts in ``languages``.

    Every text's vector has length 1 and is without the mean of its language, so that clusters are
    of one matter and not of one language. Articles without text, or whose vector says nothing, are
    not present.
    """
    n = len(corpus.news)
    beside = vectors.beside(centre="language", shelves=languages)
    whole = vectors.beside(centre="none", shelves=languages)
    total = np.zeros((n, vectors.encoder.spec.dim), np.float32)
    for language in languages:
        side, rows = beside.side(language), corpus.texts(language).rows
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            found, bare = side.at(some), whole.side(language).at(some)
            # What is the mean itself (a shelf of one text) has no direction without it.
            found = np.where(_long(found), found, bare)
            total[some] += unit_rows(np.where(_long(bare), found, 0))
    present = np.ones(n, np.bool_)
    for start in range(0, n, _BLOCK):
        block = total[start : start + _BLOCK]
        for dim in dims:
            present[start : start + _BLOCK] &= _long(block[:, :dim])[:, 0]
    check_vectors(total, np.flatnonzero(present), sorted(set(dims)))
    return Today(np.asarray(corpus.news.ids), total, present, corpus.news.published)


def _long(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """``(n, 1)``: which rows have a direction, and are not the rest of a difference."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) > 1e-6)[:, None]


def place_of(corpus: Corpus, encoder: EncoderSpec, cut: Cut) -> Path:
    """Where the clusters by a fitted `Cut` belong."""
    origin = json.dumps(_origin(corpus, encoder, cut), sort_keys=True)
    key = hashlib.sha256(origin.encode()).hexdigest()[:16]
    return data_root() / "clusters" / f"{corpus.name}-{key}.npz"


def aspects(corpus: Corpus, shelf: ClusteredShelf) -> dict[str, NDArray[np.integer]]:
    """Classes of all news ``(n_news,)`` by level: ``theme``, ``topic``, ``story``.

    ``shelf`` is that of `clusters`.
    Stories that the corpus names win over found ones; those of other articles are numbered behind.
    """
    labels = np.asarray(shelf.tree.labels, np.int64)
    found: dict[str, NDArray[np.integer]] = dict(zip(shelf.levels, labels, strict=True))
    told = np.asarray(corpus.news.story, np.int64)
    if "story" in found and np.any(told >= 0):
        behind = int(told.max()) + 1 + found["story"]
        found["story"] = np.where(told >= 0, told, np.where(found["story"] >= 0, behind, -1))
    return found


def _origin(corpus: Corpus, encoder: EncoderSpec, cut: Cut) -> Mapping[str, Any]:
    return {
        "corpus": corpus.fingerprint,
        "corpus_name": corpus.name,
        "encoder": asdict(encoder),
        "view": VIEW,
        "centre": "language",
        **asdict(cut),
    }
