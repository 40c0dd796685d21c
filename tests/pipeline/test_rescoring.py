"""A trained head on a page: what it scores is what it scores anywhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.config import parse_training
from newsrec.corpus import Corpus
from newsrec.corpus.readers import reading
from newsrec.errors import HeadError
from newsrec.pipeline import score_articles
from newsrec.pipeline.history import languages
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.page import recommend
from newsrec.pipeline.request import Request
from newsrec.pipeline.scoring import Scorer
from newsrec.pipeline.shelf import last_moment
from newsrec.pipeline.training import train
from tests.encode import models


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_corpus(None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("trained") / "caum"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSREC_DATA", str(tmp_path_factory.mktemp("data")))
        fields = {"head": "caum:width=32", "test": None, "options": {"epochs": 2}}
        train(parse_training(fields), where)
    return where


def told(corpus: Corpus, row: int, language: str) -> dict[str, str]:
    texts, news = corpus.texts(language), corpus.news
    category = news.category_names[news.category[row]]
    return {"title": texts.title[row], "abstract": texts.abstract[row], "language": language,
            "category": category}  # fmt: skip


def read_by_u123(corpus: Corpus, request: Request) -> list[dict[str, str]]:
    """The history behind U123's page, each article as the page reads it."""
    read = reading(corpus, "U123", last_moment(corpus))
    assert read is not None
    spoken = languages(corpus, request, read)
    return [told(corpus, *one) for one in zip(read.rows.tolist(), spoken, strict=True)]


@pytest.mark.parametrize("shelves", [("fin",), ("fin", "tha", "eng")])
def test_the_scores_of_a_page_are_those_of_the_same_texts(
    corpus: Corpus, folder: Path, shelves: tuple[str, ...]
) -> None:
    request = Request("U123", shelves, k=12)
    page = recommend(corpus, request, ranker=folder)
    scorer = Scorer.open(folder)
    rows = corpus.news.rows([item.id for item in page.items]).tolist()
    candidates = [told(corpus, row, x.language) for row, x in zip(rows, page.items, strict=True)]
    read = read_by_u123(corpus, request)
    found = score_articles(scorer.ranker, scorer.encoder, read, candidates, scorer.means)
    scores = [item.score for item in page.items]
    assert scores == pytest.approx(found.tolist(), abs=1e-4)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 12
    assert all(item.because is not None for item in page.items)


def test_a_story_is_shown_in_the_language_that_the_head_prefers(
    corpus: Corpus, folder: Path
) -> None:
    both = recommend(corpus, Request("U123", ("fin", "eng")), ranker=folder)
    alone = {
        code: {
            item.id: item.score
            for item in recommend(corpus, Request("U123", (code,), k=100), ranker=folder).items
        }
        for code in ("fin", "eng")
    }
    stories = corpus.news.story[corpus.news.rows([item.id for item in both.items])]
    assert len(np.unique(stories)) == len(both.items) == 10
    compared = [item for item in both.items if all(item.id in alone[code] for code in alone)]
    assert compared
    for item in compared:
        assert item.score == pytest.approx(max(x[item.id] for x in alone.values()), abs=1e-5)


def test_another_encoder_is_refused(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    other = models.bert(tmp_path / "tiny")
    with pytest.raises(HeadError, match=r"the head was trained on vectors of 'mini'.*these are of"):
        recommend(corpus, Request("U123", ("fin",)), ranker=folder, encoder=str(other))


def test_a_reader_without_history_gets_what_is_fresh(corpus: Corpus, folder: Path) -> None:
    page = recommend(corpus, Request("nobody", ("fin",)), ranker=folder)
    assert page.fallback is not None
    assert len(page.items) == 10
