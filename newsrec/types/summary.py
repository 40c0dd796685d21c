"""What a summary is made of, and what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Article:
    """The text of one article in one language.

    ``row`` of the `newsrec.types.NewsTable`; ``language`` ISO 639-3. An article that is there in
    several languages is several of these with one row.
    """

    row: int
    language: str
    title: str
    abstract: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A few sentences about a cluster: plain text, never markup.

    ``language``: what it is written in, ISO 639-3, which is not the wanted one where an extract had
    no text in that; ``sentences``, in reading order; ``rows``: of an extract the article of each
    sentence, else every article that the model was shown; ``by``: the summarizer's name.
    """

    text: str
    language: str
    sentences: tuple[str, ...]
    rows: tuple[int, ...]
    by: str
