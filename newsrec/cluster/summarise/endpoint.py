"""A model behind any HTTP endpoint that speaks OpenAI's chat completions (llama.cpp, vLLM, Ollama).

The key comes from the environment only and appears in no message. Redirects are not followed, so
that it goes nowhere else.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import urlsplit

from newsrec.cluster.articles import summary_of
from newsrec.cluster.plain import answer_sentences
from newsrec.cluster.summarise.frame import framed
from newsrec.errors import ConfigError, DataError
from newsrec.languages import canonical
from newsrec.types import Article, Summary

KEY = "NEWSREC_SUMMARIZER_KEY"
MOST_BYTES = 1_000_000
_BUSY = (408, 429, 500, 502, 503, 504)
_LONGEST_WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A summarizer (`newsrec.protocols.Summarizer`) that asks ``model`` at ``url`` (``…/v1``).

    ``timeout_s`` bounds each of ``attempts``; an endpoint that is busy (429, 5xx) or silent is
    asked again after what its ``Retry-After`` says or 1, 2, 4 … s, at most 30 s each. The key is
    what the environment variable `KEY` holds, if it is set. Raises `ConfigError` for a URL that is
    none; when called, `DataError` for an endpoint that does not answer as it should.
    """

    url: str
    model: str
    timeout_s: float = 60.0
    attempts: int = 3
    max_tokens: int = 300
    wait: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            fits = False
        # A name, a password or a query may be a secret: the URL is not quoted then.
        if not fits or "@" in self.url or parts.query or any(c.isspace() for c in self.url):
            found = "this URL" if "@" in self.url or "?" in self.url else repr(self.url)
            raise ConfigError(
                f"summarizer: {found}, expected http://HOST:PORT/v1#MODEL without a name, password "
                f"or query; the environment variable {KEY} holds a key"
            )
        if not self.model:
            raise ConfigError(f"summarizer {self.url!r}: no model; write {self.url}#MODEL")
        if self.attempts < 1 or self.timeout_s <= 0 or self.max_tokens < 1:
            raise ConfigError(
                f"summarizer {self.name!r}: attempts, timeout_s and max_tokens must be positive"
            )

    @property
    def name(self) -> str:
        return f"{self.url}#{self.model}"

    def __call__(self, articles: Sequence[Article], language: str) -> Summary:
        wanted = canonical(language)
        frame = framed(articles, wanted)
        if not frame.rows:
            return summary_of((), wanted, (), self.name)
        question = {
            "model": self.model,
            "messages": list(frame.messages),
            "temperature": 0,
            "max_tokens": self.max_tokens,
        }
        said = _content(self._asked(json.dumps(question).encode()), self.name)
        sentences = answer_sentences(said, wanted)
        if not sentences:
            raise DataError(f"summarizer {self.name}: the answer has no text: {_quoted(said)}")
        return summary_of(sentences, wanted, frame.rows, self.name)

    def _asked(self, question: bytes) -> bytes:
        for attempt in range(1, self.attempts + 1):
            again = 2.0 ** (attempt - 1)
            try:
                return self._once(question)
            except urllib.error.HTTPError as error:
                problem = f"HTTP {error.code}: {_quoted(_told(error, self.timeout_s))}"
                if error.code not in _BUSY:
                    raise DataError(f"summarizer {self.name}: {problem}") from None
                again = _retry_after(error.headers.get("Retry-After"), again)
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                problem = f"{_quoted(str(reason) or type(error).__name__)}"
            if attempt < self.attempts:
                self.wait(min(again, _LONGEST_WAIT_S))
        raise DataError(
            f"summarizer {self.name}: no answer in {self.attempts} attempts of {self.timeout_s:g} "
            f"s; the last one: {problem}. Is the endpoint running?"
        )

    def _once(self, question: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := _key():
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(
            self.url.rstrip("/") + "/chat/completions", data=question, headers=headers
        )
        with _opener(self.url).open(request, timeout=self.timeout_s) as answer:
            said = _read(answer, self.timeout_s, MOST_BYTES + 1)
        if len(said) > MOST_BYTES:
            raise DataError(f"summarizer {self.name}: the answer is longer than {MOST_BYTES} bytes")
        return said


def _key() -> str:
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        # What urllib says of such a header quotes it.
        raise ConfigError(f"{KEY}: has characters that no HTTP header can carry")
    return key


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """No redirect: urllib then raises the 3xx as an HTTPError."""


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Proxies of the environment, but none to this machine."""
    if (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1"):
        return urllib.request.build_opener(_Stay, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_Stay)


def _read(answer: IO[bytes], timeout_s: float, most: int) -> bytes:
    """At most ``most`` bytes; `TimeoutError` for an answer that drips longer than ``timeout_s``."""
    until = time.monotonic() + timeout_s
    parts: list[bytes] = []
    while most > 0:
        # read1 returns what is there; read would wait for all of it, however slowly it comes.
        part = getattr(answer, "read1", answer.read)(min(most, 65536))
        if not part:
            break
        parts.append(part)
        most -= len(part)
        if time.monotonic() > until:
            raise TimeoutError(f"the answer took more than {timeout_s:g} s")
    return b"".join(parts)


def _told(error: urllib.error.HTTPError, timeout_s: float) -> bytes:
    """The beginning of an error's body, or nothing where that does not come either."""
    try:
        return _read(error, timeout_s, 2000)
    except (OSError, http.client.HTTPException):
        return b""


def _content(said: bytes, name: str) -> str:
    try:
        content = json.loads(said)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        content = None
    if not isinstance(content, str):
        raise DataError(
            f"summarizer {name}: {_quoted(said)}, expected a chat completion with "
            "choices[0].message.content"
        )
    return content


def _retry_after(value: str | None, otherwise: float) -> float:
    return float(value) if value is not None and value.isdecimal() else otherwise


def _quoted(said: bytes | str) -> str:
    """One line of it, without control characters and without the key."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    if key := _key():
        text = text.replace(key, "***")
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())
    return repr(line if len(line) <= 200 else line[:199] + "…")
