"""A short name for every cluster in the reader's language, and an article that stands for it.

No language model: the name is made of phrases of the articles, those nearest to the cluster's
centre and farther from its siblings' (in the manner of KeyBERT, with class against class).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.centres import Articles, Floats, Rows, unit
from newsrec.cluster.choice import parts_of
from newsrec.cluster.families import Case, Families
from newsrec.cluster.forms import echoes
from newsrec.cluster.phrases import capital, phrases
from newsrec.cluster.segment import Cut
from newsrec.cluster.words import words
from newsrec.errors import ConfigError, DataError
from newsrec.languages import canonical
from newsrec.types.clusters import ClusterTree
from newsrec.types.texts import Texts

#: Texts to unit vectors ``(n, dim) float32``, in the space of the articles' vectors.
Embed = Callable[[Sequence[str]], NDArray[np.float32]]

_READ = 48  # articles of a cluster that are read for phrases
_NEAR = 0.25  # cosine from which such an article is about the same at all
_NEIGHBOURS = 4  # articles outside a cluster that are read where it has none in the language
_AT_ONCE = 256  # clusters whose phrases are embedded together


@dataclass(frozen=True, slots=True)
class Label:
    """``text`` names ``cluster``; ``language`` is what it is written in.

    ``source``: ``members`` of the cluster wrote it; ``neighbours``: the nearest articles outside
    it; ``other language``: nothing on the shelf is in the language asked for; ``none``: no text.
    ``parts``: the phrases that ``text`` joins.
    """

    cluster: int
    text: str
    language: str
    source: str
    parts: tuple[str, ...]


class Labeller:
    """Names the clusters of a ``tree``; what clusters share is worked out once.

    ``texts`` and ``vectors (n_news, dim)`` by language, ``embed`` for phrases. ``cut`` is passed to
    `words` for scripts without spaces. Raises `DataError` where rows do not match.
    """

    def __init__(
        self,
        tree: ClusterTree,
        texts: Mapping[str, Texts],
        vectors: Mapping[str, Floats],
        embed: Embed,
        cut: Cut | None = None,
    ) -> None:
        self._articles = Articles(texts, vectors)
        if len(tree) != len(self._articles):
            raise DataError(f"the tree has {len(tree)} articles, the texts {len(self._articles)}")
        self._tree, self._embed, self._cut = tree, embed, cut

    def label(
        self, level: int, language: str, clusters: Sequence[int] | None = None
    ) -> tuple[Label, ...]:
        """Names in ``language`` for ``clusters`` of ``level`` (default: all), in that order.

        The coarsest level gets single words, the next up to two, finer ones up to three; a cluster
        with children gets up to three phrases that cover them. A phrase belongs to that sibling
        whose centre is nearest, so no two siblings share one, and a child is not called by the
        words of its parent while it has others. Raises `ConfigError` for a level or
        a cluster that does not exist.
        """
        level = self._level(level)
        language = canonical(language)
        wanted = self._wanted(level, clusters)
        families = Families(self._tree, level, wanted, self._articles)
        parents = self._tree.parents(level)
        above = self._said_above(level, language, parents[wanted])
        labels: list[Label] = []
        for start in range(0, len(wanted), _AT_ONCE):
            cases = families.cases(wanted[start : start + _AT_ONCE])
            for case in cases:
                self._read(case, level, language)
                said = above.get(int(parents[case.cluster]), ())
                # What the parent is called tells a child from none of its siblings.
                own = [one for one in case.phrases if not echoes(one.words, said)]
                case.phrases = own or case.phrases
            labels += self._named(cases)
        return tuple(_told_apart(labels, parents))

    def _said_above(
        self, level: int, language: str, parents: NDArray[np.int32]
    ) -> dict[int, tuple[str, ...]]:
        """Words of the names of ``parents`` that one phrase names: of several phrases each stands
        for a child. The finest clusters are as narrow as a headline: nobody asks."""
        if not 0 < level < self._tree.n_levels - 1:
            return {}
        wanted = np.unique(parents[parents >= 0]).tolist()
        named = self.label(level - 1, language, wanted)
        return {
            one.cluster: tuple(words(" ".join(one.parts), one.language, self._cut))
            for one in named
            if len(one.parts) == 1
        }

    def medoids(
        self, level: int, clusters: Sequence[int] | None = None
    ) -> dict[str, NDArray[np.int64]]:
        """Language -> ``(k,)``: for each of ``clusters`` the row with text in the language that is
        nearest to the centre, over all languages, of the cluster; -1 where there is none.

        Ties go to the first title in the order of code points.
        """
        level = self._level(level)
        asked = self._wanted(level, clusters)
        wanted, back = np.unique(asked, return_inverse=True)
        number = np.full(self._tree.n_clusters[level] + 1, -1, np.int64)
        number[wanted] = np.arange(len(wanted))
        of = number[self._tree.labels[level]]
        rows = np.flatnonzero(of >= 0)
        centres = unit(self._articles.sums(rows, of[rows], len(wanted)))
        found = {}
        for language, texts in self._articles.texts.items():
            here = rows[texts.present[rows]]
            near = np.empty(len(here))
            for start in range(0, len(here), 16_384):
                part = here[start : start + 16_384]
                own = unit(self._articles.inside(language, part))
                near[start : start + len(part)] = np.einsum("nd,nd->n", own, centres[of[part]])
            found[language] = _nearest(of[here], near, here, len(wanted), texts)[back]
        return found

    def _level(self, level: int) -> int:
        if not -self._tree.n_levels <= level < self._tree.n_levels:
            raise ConfigError(f"level {level}: the tree has {self._tree.n_levels} levels, from 0")
        return level % self._tree.n_levels

    def _wanted(self, level: int, clusters: Sequence[int] | None) -> NDArray[np.int64]:
        n = self._tree.n_clusters[level]
        if clusters is None:
            return np.arange(n)
        wrong = [one for one in clusters if not 0 <= one < n]
        if wrong:
            raise ConfigError(f"cluster {wrong[0]}: level {level} has {n} clusters, from 0")
        return np.array(clusters, np.int64).reshape(-1)

    def _read(self, case: Case, level: int, language: str) -> None:
        """Find phrases for ``case``: in its members, else in neighbours, else in any language."""
        shelf = self._articles.texts
        rows = case.rows[shelf[language].present[case.rows]] if language in shelf else case.rows[:0]
        case.language = language
        if not len(rows) and language in shelf and np.any(case.centre):
            case.source = "neighbours"
            rows = self._articles.nearest(language, case.centre, _NEIGHBOURS)
            rows = rows[self._articles.alike(language, rows, case.rows) >= _NEAR]
        if not len(rows):
            present = {one: int(shelf[one].present[case.rows].sum()) for one in shelf}
            case.source = "other language"
            case.language = max(present, key=lambda one: (present[one], one == "eng", one))
            rows = case.rows[shelf[case.language].present[case.rows]]
        if not len(rows):
            case.source = "none"
            return
        longest = 3 if case.finest else min(level + 1, 3)
        chosen = self._chosen(case, level, rows)
        texts = shelf[case.language]
        titles, abstracts = texts.title.take(chosen), texts.abstract.take(chosen)
        found = phrases(titles, abstracts, case.language, longest, self._cut)
        # What several words say once is a piece of a sentence; said again it is a name.
        case.phrases = [one for one in found if one.n_words == 1 or one.count > 1] or found

    def _chosen(self, case: Case, level: int, rows: Rows) -> Rows:
        """The `_READ` articles to read: the most central of every child in turn, large ones
        first."""
        if len(rows) <= _READ:
            return rows
        near = np.round(self._articles.inside(case.language, rows) @ case.centre, 6)
        child = self._tree.labels[min(level + 1, self._tree.n_levels - 1)][rows]
        _, group, size = np.unique(child, return_inverse=True, return_counts=True)
        order = np.lexsort((-near, group))
        first = np.flatnonzero(np.diff(group[order], prepend=-1))
        turn = np.empty(len(rows), np.int64)
        turn[order] = np.arange(len(rows)) - np.repeat(first, size)
        return rows[np.lexsort((-near, -size[group], turn))[:_READ]]

    def _named(self, cases: Sequence[Case]) -> list[Label]:
        texts = sorted({phrase.text for case in cases for phrase in case.phrases})
        place = {text: i for i, text in enumerate(texts)}
        vectors = np.asarray(self._embed(texts), np.float64) if texts else np.zeros((0, 1))
        labels = []
        for case in cases:
            one = case.finest and case.source == "members" and len(case.rows) == 1
            parts = self._headline(case) if one else ()
            if not parts:
                parts = parts_of(case, vectors[[place[phrase.text] for phrase in case.phrases]])
            if not parts and case.source != "none":
                parts = self._headline(case)
            text = capital(" · ".join(parts), case.language)
            labels.append(
                Label(
                    case.cluster, text, case.language if text else "",
                    case.source if text else "none", parts,
                )
            )  # fmt: skip
        return labels

    def _headline(self, case: Case) -> tuple[str, ...]:
        """A title: for one article alone, and where there are only stop words and numerals."""
        texts = self._articles.texts[case.language]
        titles = texts.title.take(case.rows[texts.present[case.rows]])
        return tuple(sorted(title.strip() for title in titles if title.strip())[:1])


def _told_apart(labels: Sequence[Label], parents: NDArray[np.int32]) -> list[Label]:
    """A number behind a name that a sibling has too: their articles say the same."""
    seen: dict[tuple[int, str], dict[int, int]] = {}
    out = []
    for label in labels:
        same = seen.setdefault((int(parents[label.cluster]), label.text), {})
        number = same.setdefault(label.cluster, len(same) + 1)
        again = label.text and number > 1
        out.append(replace(label, text=f"{label.text} #{number}") if again else label)
    return out


def _nearest(
    of: NDArray[np.int64], near: Floats, rows: Rows, k: int, texts: Texts
) -> NDArray[np.int64]:
    """``(k,)``: in every cluster the row with the highest ``near``."""
    near = np.round(near, 6)
    top = np.full(k, -np.inf)
    np.maximum.at(top, of, near)
    ties = np.flatnonzero(near == top[of])
    titles = texts.title.take(rows[ties])
    order = sorted(range(len(ties)), key=lambda i: (titles[i], rows[ties[i]]))
    found = np.full(k, -1, np.int64)
    for i in reversed(order):
        found[of[ties[i]]] = rows[ties[i]]
    return found


def label_clusters(
    tree: ClusterTree,
    level: int,
    texts: Mapping[str, Texts],
    language: str,
    *,
    vectors: Mapping[str, Floats],
    embed: Embed,
    clusters: Sequence[int] | None = None,
    cut: Cut | None = None,
) -> tuple[Label, ...]:
    """`Labeller.label` for one level and language."""
    return Labeller(tree, texts, vectors, embed, cut).label(level, language, clusters)
