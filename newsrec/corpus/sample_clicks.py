"""How the readers of the bundled sample click: a stated, seeded process.

Every reader has a home language, half of them a second one, and three favourite topics. At a visit
the reader is shown eight unread articles of the last week, in random order, and clicks by a
multinomial logit (McFadden 1974): the utility of an article is +4 for a favourite topic, +2 for
another topic of a favourite theme, −0.15 a day of age, plus standard Gumbel noise; the best is
clicked, and with probability 0.25 the second best too. Three clicks in four are read in the home
language. Language has no influence on what is clicked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.types import NewsTable

SEED = 2027
N_READERS = 60
FIRST_READER = 100
OPENS = np.datetime64("2026-03-04T06:00:00", "s")
CLOSES = np.datetime64("2026-03-25T22:00:00", "s")
SHOWN = 8
SHELF_DAYS = 7
FAVOURITE_TOPIC, FAVOURITE_THEME, PER_DAY = 4.0, 2.0, -0.15
SECOND_CLICK = 0.25
HOME_SHARE = 0.75
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Click:
    """One article read: its news row, and the language (a place in the list of languages)."""

    row: int
    language: int


@dataclass(frozen=True, slots=True)
class Visit:
    """One list shown; ``clicked`` is aligned with ``shown`` (news rows)."""

    id: str
    user: str
    time: np.datetime64
    history: tuple[Click, ...]
    shown: tuple[int, ...]
    clicked: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """``languages``: places in the list of languages, home first; ``topics``: three favourites."""

    user: str
    languages: tuple[int, ...]
    topics: tuple[int, ...]
    visits: NDArray[np.datetime64]


def simulate(news: NewsTable, languages: tuple[str, ...], rng: np.random.Generator) -> list[Visit]:
    """All visits in order of time; impression ids number them from 1."""
    visits = [
        visit
        for number in range(N_READERS)
        for visit in _read(_reader(number, len(languages), news, rng), news, rng)
    ]
    visits.sort(key=lambda visit: (visit.time, visit.user))
    return [
        Visit(str(n), v.user, v.time, v.history, v.shown, v.clicked)
        for n, v in enumerate(visits, 1)
    ]


def _reader(number: int, n_languages: int, news: NewsTable, rng: np.random.Generator) -> Reader:
    home = number % n_languages
    others = [language for language in range(n_languages) if language != home]
    second = [int(rng.choice(others))] if rng.random() < 0.5 else []
    topics = rng.choice(len(news.subcategory_names), size=3, replace=False)
    # One reader in ten is new: the first visits fall into the last week, with an empty history.
    opens = CLOSES - np.timedelta64(7 * DAY_S, "s") if rng.random() < 0.1 else OPENS
    seconds = (CLOSES - opens).astype(int)
    times = opens + np.sort(rng.integers(0, seconds, size=rng.integers(5, 16)))
    return Reader(
        user=f"U{FIRST_READER + number}",
        languages=(home, *second),
        topics=tuple(int(topic) for topic in topics),
        visits=times.astype("datetime64[s]"),
    )


def _read(reader: Reader, news: NewsTable, rng: np.random.Generator) -> list[Visit]:
    """The reader's visits, each with the history that stood before it."""
    theme_of = np.zeros(len(news.subcategory_names), np.int64)
    theme_of[news.subcategory] = news.category
    themes = theme_of[list(reader.topics)]
    taste = np.where(np.isin(news.category, themes), FAVOURITE_THEME, 0.0)
    taste = np.where(np.isin(news.subcategory, reader.topics), FAVOURITE_TOPIC, taste)
    history: list[Click] = []
    visits = []
    for time in reader.visits:
        age = (time - news.published).astype(np.float64) / DAY_S
        fresh = (age > 0) & (age <= SHELF_DAYS)
        fresh[[click.row for click in history]] = False
        if fresh.sum() < SHOWN:
            continue
        shown = rng.choice(np.flatnonzero(fresh), size=SHOWN, replace=False)
        utility = taste[shown] + PER_DAY * age[shown] + rng.gumbel(size=SHOWN)
        best = np.argsort(-utility)[: 2 if rng.random() < SECOND_CLICK else 1]
        visits.append(
            Visit(
                id="",
                user=reader.user,
                time=time,
                history=tuple(history),
                shown=tuple(int(row) for row in shown),
                clicked=tuple(place in best for place in range(SHOWN)),
            )
        )
        for row in shown[best]:
            at_home = len(reader.languages) == 1 or rng.random() < HOME_SHARE
            history.append(Click(int(row), reader.languages[0 if at_home else 1]))
    return visits
