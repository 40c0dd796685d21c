"""Shelves to look at: the bundled sample, and generated ones of any size."""

from __future__ import annotations

import numpy as np

from newsrec.cluster import Articles, Captions, Limits, View, view_of
from newsrec.corpus.sample import open_sample
from newsrec.types.clusters import ClusterTree, dense
from tests.cluster.made import power_law

# Words of several scripts, no sentences of anybody.
_TABLE = """
eng harbour budget tram storm verdict museum orchard ferry recount strike clinic
fin satama talousarvio raitiovaunu myrsky tuomio museo lautta lakko terveysasema
jpn 港湾 予算 路面電車 嵐 判決 博物館 果樹園 連絡船 再集計 診療所
tam துறைமுகம் வரவுசெலவு புயல் தீர்ப்பு அருங்காட்சியகம் தோட்டம் படகு
arb ميناء ميزانية ترام عاصفة حكم متحف بستان عبّارة إضراب عيادة
tha ท่าเรือ งบประมาณ รถราง พายุ คำพิพากษา พิพิธภัณฑ์ สวนผลไม้ เรือข้ามฟาก
"""
WORDS = {line.split()[0]: line.split()[1:] for line in _TABLE.strip().splitlines()}


def sample_view() -> View:
    """The bundled sample: 6 themes, 18 topics, 36 stories, each article in 15 languages."""
    corpus = open_sample()
    news = corpus.news
    labels = np.stack([dense(news.category), dense(news.subcategory), dense(news.story)])
    tree = ClusterTree(labels, (1, 1, 1), (0.1, 0.2, 0.3))
    english = corpus.texts("eng").title
    first = [np.unique(row, return_index=True)[1].tolist() for row in labels]
    names = [
        [news.category_names[news.category[i]].title() for i in first[0]],
        [news.subcategory_names[news.subcategory[i]].replace("-", " ") for i in first[1]],
        [english[i] for i in first[2]],
    ]
    keywords = [[name.lower().split()[:5] for name in row] for row in names]
    articles = Articles.of(news, [corpus.texts(code) for code in corpus.languages])
    return view_of(tree, articles, Captions(names, keywords, language="eng"))


def generated_tree(n: int, rng: np.random.Generator) -> ClusterTree:
    """Power-law themes, topics and stories of ``n`` articles, many stories of one article."""
    story = power_law(n, max(2, n // 5), 1.0, rng)
    topic = power_law(int(story.max()) + 1, max(2, n // 60), 0.7, rng)[story]
    theme = power_law(int(topic.max()) + 1, max(2, round(n**0.4)), 0.7, rng)[topic]
    labels = np.stack([dense(label) for label in (theme, topic, story)])
    return ClusterTree(labels, (1, 1, 1), (0.1, 0.2, 0.3))


def generated_view(n: int, seed: int = 0, limits: Limits | None = None) -> View:
    """``n`` articles over 30 days in six languages, one language each."""
    rng = np.random.default_rng(seed)
    tree = generated_tree(n, rng)
    codes = list(WORDS)
    of = rng.choice(len(codes), n, p=[0.35, 0.2, 0.15, 0.12, 0.1, 0.08])
    titles: dict[str, list[str]] = {code: [""] * n for code in codes}
    for row, i in enumerate(of.tolist()):
        words = WORDS[codes[i]]
        drawn = rng.integers(len(words), size=7).tolist()
        titles[codes[i]][row] = " ".join(words[j] for j in drawn) + f" {row}"
    start = np.datetime64("2026-03-01T00:00:00", "s")
    published = start + rng.integers(30 * 86400, size=n).astype("timedelta64[s]")
    articles = Articles([f"A{row:06d}" for row in range(n)], published, titles)
    return view_of(tree, articles, Captions(named(tree, rng), language="eng"), limits=limits)


def named(tree: ClusterTree, rng: np.random.Generator) -> list[list[str]]:
    """A name of two words and a number for every cluster."""
    words = WORDS["eng"]
    return [
        [
            f"{words[a]} {words[b]} {k}"
            for k, (a, b) in enumerate(rng.integers(len(words), size=(n, 2)))
        ]
        for n in tree.n_clusters
    ]
