"""A list of several languages: exposure follows the shelves, not the bias of the vectors."""

from __future__ import annotations

import numpy as np

from newsrec.rank import LateFusion, Shelf, exposure, merge
from newsrec.rank.centre import sides
from tests.synthetic import embeddings

N, DIM, K = 400, 24, 40


def biased_shelves(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Two languages, other articles in each, all of one kind, but each language's vectors share a
    direction of their own that is larger than anything an article says."""
    return {
        language: rng.standard_normal((N, DIM)) / np.sqrt(DIM) + 3 * direction
        for language, direction in zip(("deu", "fin"), np.eye(DIM)[:2], strict=True)
    }


def share_of_own_language(centre: str, seed: int) -> float:
    rng = np.random.default_rng(seed)
    shelves = {k: embeddings(v, language=k) for k, v in biased_shelves(rng).items()}
    prepared = {k: sides(e, e, centre=centre)[1] for k, e in shelves.items()}
    read = rng.integers(0, N, 4)
    reader = prepared["deu"].at(read).mean(0)
    found = {
        k: Shelf.of(side).top(reader, K, exclude=read if k == "deu" else ())
        for k, side in prepared.items()
    }
    # The two shelves hold different articles: number them apart.
    found["fin"] = (found["fin"][0] + N, found["fin"][1])
    mixed = merge(found, K)
    return exposure([mixed.languages[i] for i in mixed.language]).get("deu", 0.0)


def test_without_centring_the_readers_language_takes_all_and_with_it_its_share() -> None:
    assert all(share_of_own_language("none", seed) == 1.0 for seed in range(5))
    shares = [share_of_own_language("language", seed) for seed in range(20)]
    assert abs(np.mean(shares) - 0.5) < 0.05


def test_a_mixed_candidate_list_is_centred_by_the_language_of_each_row() -> None:
    rng = np.random.default_rng(3)
    stacked = embeddings(np.concatenate(list(biased_shelves(rng).values())))
    language = np.repeat([0, 1], N)
    _, plain = sides(stacked, stacked, centre="language")
    _, apart = sides(
        stacked, stacked, centre="language", history_language=language, shelf_language=language
    )
    shares = []
    for side in (plain, apart):
        reader = side.at(rng.integers(0, N, 4)).mean(0)
        shares.append((language[Shelf.of(side).top(reader, K)[0]] == 0).mean())
    assert shares[0] == 1.0
    assert 0.2 < shares[1] < 0.8
    assert LateFusion(shelf_language=language).shelf_language is language


def test_lists_are_merged_best_first_and_an_article_comes_once() -> None:
    found = {
        "fin": (np.array([4, 1, 2]), np.float32([0.9, 0.5, 0.1])),
        "eng": (np.array([1, 4, 7]), np.float32([0.7, 0.6, 0.5])),
    }
    mixed = merge(found, 10)
    assert mixed.rows.tolist() == [4, 1, 7, 2]
    assert [mixed.languages[i] for i in mixed.language] == ["fin", "eng", "eng", "fin"]
    assert np.allclose(mixed.scores, [0.9, 0.7, 0.5, 0.1])
    assert merge(found, 2).rows.tolist() == [4, 1]


def test_a_story_comes_once_over_all_languages() -> None:
    found = {
        "fin": (np.array([0, 1]), np.float32([3, 2])),
        "eng": (np.array([2, 3]), np.float32([2.5, 1])),
    }
    story = np.array([5, -1, 5, -1])
    assert merge(found, 10, story).rows.tolist() == [0, 1, 3]


def test_ties_go_to_the_smaller_row_then_to_the_language_named_first() -> None:
    one = np.float32([1, 1])
    mixed = merge({"fin": (np.array([3, 5]), one), "eng": (np.array([2, 3]), one)}, 9)
    assert mixed.rows.tolist() == [2, 3, 5]
    assert [mixed.languages[i] for i in mixed.language] == ["eng", "fin", "fin"]


def test_exposure_is_the_share_of_each_language() -> None:
    assert exposure(["fin", "eng", "fin", "fin"]) == {"fin": 0.75, "eng": 0.25}
    assert exposure([]) == {}
    empty = merge({"fin": (np.zeros(0, np.int64), np.zeros(0, np.float32))}, 5)
    assert len(empty.rows) == 0
