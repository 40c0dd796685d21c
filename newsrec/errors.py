"""Every error raised on purpose: it says where, what was found, what was expected, what to do."""

from __future__ import annotations


class NewsrecError(Exception):
    """Base of all errors meant for the reader; the CLI prints one line, without a traceback.

    ``exit_code`` is what the command line returns: 2 for usage, 3 for data.
    """

    exit_code = 3


class DataError(NewsrecError):
    """Input that cannot be read as stated: a file, a line, an id, a vector."""


class ConfigError(NewsrecError):
    """An option, a name or a combination of options that does not exist."""

    exit_code = 2


class HeadError(ConfigError):
    """A head that nobody knows, or that does not fit what it is given: another encoder's vectors, a
    corpus without what it reads."""

    exit_code = 3


class StaleCacheError(NewsrecError):
    """A stored file is corrupt, foreign or outdated; says which command rebuilds it."""


class MissingExtra(NewsrecError):
    """An optional dependency is not installed; says which extra brings it."""

    exit_code = 2


def unknown_name(kind: str, found: str, known: list[str] | tuple[str, ...]) -> ConfigError:
    """The error for a name that is not in a table, generated from the table."""
    from difflib import get_close_matches

    near = get_close_matches(found, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ConfigError(f"unknown {kind} {found!r}; known: {', '.join(sorted(known))}.{hint}")


def one_line(error: BaseException, limit: int = 200) -> str:
    """The message of ``error`` on one line, or its type where it has none."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
