"""Who clicked what, in which order, as far as the named splits know it: never a later one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError
from newsrec.types import Impressions

Ints = NDArray[np.int64]
_NAT = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """``m`` distinct (reader, article) pairs, reader after reader, oldest first.

    ``user``, ``item (m,)`` rows; ``time (m,) datetime64[s]`` of the impression in which it was
    clicked, NaT for what is known only from a history.
    """

    user: Ints
    item: Ints
    time: NDArray[np.datetime64]

    def __len__(self) -> int:
        return len(self.user)

    @property
    def place(self) -> Ints:
        """``(m,)``: 0, 1, 2 … within each reader. RecBole sorts in float32, where seconds since
        1970 are only good to two minutes and these are exact."""
        starts = np.flatnonzero(np.diff(self.user, prepend=-1))
        lengths = np.diff(starts, append=len(self.user))
        return np.arange(len(self.user)) - np.repeat(starts, lengths)


def events(impressions: Impressions, *, histories: bool) -> Events:
    """The clicks in labelled ``impressions`` and, with ``histories``, what their readers had read.

    A pair that occurs several times counts once, where it came first: a history lies before its
    impression, impressions follow one another by time (those of unknown time come last).
    """
    if impressions.clicked is None:
        raise DataError("clicks of an unlabelled split: expected impressions with labels")
    n = len(impressions)
    order = np.empty(n, np.int64)
    order[np.argsort(impressions.time, kind="stable")] = np.arange(n)
    row = impressions.candidates.owner()[impressions.clicked]
    parts = [_part(impressions.user[row], impressions.candidates.values[impressions.clicked],
                   impressions.time[row], order[row], 1)]  # fmt: skip
    if histories:
        parts.append(_histories(impressions, order))
    user, item, time, when, phase, at = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    sort = np.lexsort((at, phase, when, user))
    user, item, time = user[sort], item[sort], time[sort]
    first = _first_of_each(user, item)
    return Events(user[first], item[first], time[first])


def read_before(impressions: Impressions) -> Events:
    """What each reader had read before its first impression, so that none of the clicks in
    ``impressions`` is among it; readers with an impression of unknown time are left out."""
    unknown = np.isin(impressions.user, impressions.user[np.isnat(impressions.time)])
    order = np.argsort(impressions.time, kind="stable")
    order = order[~unknown[order]]
    first = order[_first_of_each(impressions.user[order], np.zeros(len(order), np.int64))]
    found = impressions.take(np.sort(first))
    no_clicks = np.zeros(len(found.candidates.values), np.bool_)
    return events(replace(found, clicked=no_clicks), histories=True)


def training_events(
    corpus: Corpus, train: tuple[str, ...], split: str, *, measured_readers: bool = False
) -> Events:
    """What may be trained on to be measured on ``split``: the splits ``train``, what was read
    before them and, for ``measured_readers``, what the readers of ``split`` had read before it.

    `ConfigError` when ``split`` itself is among them, `DataError` when a training click is not
    earlier than the first impression of ``split``, or when there is no click at all.
    """
    if split in train:
        raise ConfigError(f"--train-on: {split!r} is the split that is measured; name earlier ones")
    parts = [corpus.impressions(name) for name in train]
    first = _times(corpus.impressions(split))
    for name, part in zip(train, parts, strict=True):
        last = _times(part)
        if len(first) and len(last) and last.max() >= first.min():
            raise DataError(
                f"--train-on: split {name!r} goes on until {_shown(last.max())}, but "
                f"{split!r} begins {_shown(first.min())}: training would see the future"
            )
    known = [events(part, histories=True) for part in parts]
    if measured_readers:
        known.append(read_before(corpus.impressions(split)))
    found = joined(known)
    if not len(found):
        raise DataError(f"corpus {corpus.name!r}: no click in {', '.join(train) or 'no split'}")
    return found


def joined(parts: list[Events]) -> Events:
    """Several splits, earliest first, as one; a pair counts where it came first."""
    empty = np.zeros(0, np.int64)
    user = np.concatenate([empty, *(part.user for part in parts)])
    item = np.concatenate([empty, *(part.item for part in parts)])
    time = np.concatenate([empty.astype("datetime64[s]"), *(part.time for part in parts)])
    sort = np.argsort(user, kind="stable")
    kept = sort[_first_of_each(user[sort], item[sort])]
    return Events(user[kept], item[kept], time[kept])


def _histories(impressions: Impressions, order: Ints) -> tuple[NDArray[np.generic], ...]:
    """What each reader had read, once per (reader, history), at its first impression."""
    by_time = np.argsort(order)
    rows = by_time[_first_of_each(impressions.user[by_time], impressions.history_of[by_time])]
    lists = impressions.history.take(impressions.history_of[rows])
    owner = lists.owner()
    never = np.full(len(owner), np.datetime64("NaT", "s"))
    return _part(impressions.user[rows][owner], lists.values, never, order[rows][owner], 0)


def _first_of_each(one: NDArray[np.integer], other: NDArray[np.integer]) -> Ints:
    """Positions, rising, at which a pair ``(one, other) (m,)`` comes for the first time."""
    keys = one.astype(np.int64) * (int(other.max(initial=0)) + 1) + other
    return np.sort(np.unique(keys, return_index=True)[1])


def _part(
    user: NDArray[np.integer], item: NDArray[np.integer], time: NDArray[np.datetime64],
    when: Ints, phase: int,
) -> tuple[NDArray[np.generic], ...]:  # fmt: skip
    n = len(item)
    return (
        user.astype(np.int64), item.astype(np.int64), np.asarray(time, "datetime64[s]"), when,
        np.full(n, phase), np.arange(n),
    )  # fmt: skip


def _times(impressions: Impressions) -> Ints:
    """Known times of impressions, in seconds."""
    seconds = np.asarray(impressions.time, "datetime64[s]").astype(np.int64)
    return np.asarray(seconds[seconds != _NAT], np.int64)


def _shown(seconds: np.integer) -> str:
    return str(np.datetime64(int(seconds), "s"))
