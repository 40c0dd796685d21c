"""An endpoint on loopback: what it is asked, and what comes of good, bad, slow and huge answers."""

from __future__ import annotations

import json
import os
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from newsrec.cluster import make_summarizer
from newsrec.cluster.summarise import Endpoint
from newsrec.cluster.summarise.endpoint import KEY, MOST_BYTES
from newsrec.cluster.summarise.frame import SYSTEM
from newsrec.errors import ConfigError, DataError
from newsrec.types import Article
from tests.cluster.hostile import HOSTILE
from tests.cluster.listening import Heard, Reply, endpoint, said

ARTICLES = [
    Article(3, "fin", "Lakko päättyi", "Sopu syntyi yöllä."),
    Article(7, "eng", "Strike over"),
]


def asking(heard: Heard, waits: list[float] | None = None, **options: float) -> Endpoint:
    record = (waits if waits is not None else []).append
    return Endpoint(heard.url, "tiny", wait=record, **options)  # type: ignore[arg-type]


def test_a_summary_comes_back_as_text() -> None:
    with endpoint(said("**The strike** is over.\n- A deal was made <b>at night</b>.")) as heard:
        summary = make_summarizer(f"{heard.url}#tiny")(ARTICLES, "en")
    assert summary.text == "The strike is over. A deal was made at night."
    assert summary.sentences == ("The strike is over.", "A deal was made at night.")
    assert (summary.language, summary.rows) == ("eng", (3, 7))
    assert summary.by == f"{heard.url}#tiny"
    assert heard.paths == ["/v1/chat/completions"]
    assert (heard.bodies[0]["model"], heard.bodies[0]["temperature"]) == ("tiny", 0)
    assert "Authorization" not in heard.headers[0]


def test_the_key_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "s3cret-k3y")
    with endpoint(Reply(b"no such key: s3cret-k3y", 401)) as heard:
        summarise = asking(heard)
        with pytest.raises(DataError) as caught:
            summarise(ARTICLES, "eng")
    assert heard.headers[0]["Authorization"] == "Bearer s3cret-k3y"
    assert "HTTP 401: 'no such key: ***'" in str(caught.value)
    assert "s3cret" not in repr(summarise) + str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "s3cret\nk3y")
    with endpoint(said("x")) as heard, pytest.raises(ConfigError, match=KEY) as caught:
        asking(heard)(ARTICLES, "eng")
    assert "s3cret" not in str(caught.value)
    assert not heard.bodies


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(status: int) -> None:
    waits: list[float] = []
    with endpoint(Reply(status=status), Reply(status=status), said("Over.")) as heard:
        assert asking(heard, waits)(ARTICLES, "eng").text == "Over."
    assert len(heard.bodies) == 3
    assert heard.bodies[0] == heard.bodies[2]
    assert waits == [1.0, 2.0]


def test_retry_after_is_kept_to_with_a_limit() -> None:
    waits: list[float] = []
    replies = [
        Reply(status=429, headers={"Retry-After": value}) for value in ("7", "86400", "soon")
    ]
    with endpoint(*replies, said("Over.")) as heard:
        asking(heard, waits, attempts=4)(ARTICLES, "eng")
    assert waits == [7.0, 30.0, 4.0]


def test_an_endpoint_that_stays_busy_is_given_up() -> None:
    waits: list[float] = []
    with (
        endpoint(Reply(b"try\r\nlater \x1b[31m", 503)) as heard,
        pytest.raises(
            DataError, match=r"no answer in 2 attempts .* HTTP 503: 'try later"
        ) as caught,
    ):
        asking(heard, waits, attempts=2)(ARTICLES, "eng")
    assert len(heard.bodies) == 2
    assert waits == [1.0]
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_not_repeated(status: int) -> None:
    with endpoint(Reply(b"no", status)) as heard:
        with pytest.raises(DataError, match=f"HTTP {status}: 'no'"):
            asking(heard)(ARTICLES, "eng")
        assert len(heard.bodies) == 1


def test_no_redirect_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "s3cret")
    with endpoint(said("stolen")) as other:
        away = Reply(status=307, headers={"Location": f"{other.url}/chat/completions"})
        with endpoint(away) as heard, pytest.raises(DataError, match="HTTP 307"):
            asking(heard)(ARTICLES, "eng")
        assert not other.bodies


def test_a_silent_endpoint_is_given_up() -> None:
    with endpoint(Reply(hold=True)) as heard:
        with pytest.raises(DataError, match=r"no answer in 2 attempts of 0.2 s.*timed out"):
            asking(heard, timeout_s=0.2, attempts=2)(ARTICLES, "eng")
        assert len(heard.bodies) == 2


def test_an_answer_that_drips_for_ever_is_given_up() -> None:
    with (
        endpoint(Reply(b" ", drip=True)) as heard,
        pytest.raises(DataError, match=r"took more than 0\.2 s"),
    ):
        asking(heard, timeout_s=0.2, attempts=1)(ARTICLES, "eng")


def test_one_that_hangs_up_is_asked_again() -> None:
    with endpoint(Reply(status=0), said("Over.")) as heard:
        assert asking(heard)(ARTICLES, "eng").text == "Over."


def test_nobody_there() -> None:
    with endpoint(said("x")) as heard:
        pass
    with pytest.raises(DataError, match="Is the endpoint running"):
        asking(heard, attempts=1)(ARTICLES, "eng")


@pytest.mark.parametrize(
    "body",
    [
        b"<html>not JSON</html>", b"", b"[]", b"null", b'{"choices": []}', b"\xff\xfe",
        b'{"choices": [{"message": {"content": null}}]}', b'{"choices": [{"text": "old"}]}',
        b"[" * 200_000,
    ],
)  # fmt: skip
def test_what_is_no_completion_is_quoted_in_one_line(body: bytes) -> None:
    with (
        endpoint(Reply(body)) as heard,
        pytest.raises(DataError, match=r"expected a chat completion") as caught,
    ):
        asking(heard)(ARTICLES, "eng")
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


def test_a_huge_answer_is_refused() -> None:
    with (
        endpoint(Reply(b" " * (MOST_BYTES + 1))) as heard,
        pytest.raises(DataError, match=f"longer than {MOST_BYTES} bytes"),
    ):
        asking(heard)(ARTICLES, "eng")


def test_a_long_answer_is_three_sentences() -> None:
    with endpoint(said("It goes on and on. " * 20_000)) as heard:
        assert asking(heard)(ARTICLES, "eng").text == " ".join(["It goes on and on."] * 3)


@pytest.mark.parametrize("empty", ["", " \n", "```\n```", "<think>hm</think>", "<b></b>"])
def test_an_answer_without_text_is_an_error(empty: str) -> None:
    with endpoint(said(empty)) as heard, pytest.raises(DataError, match="the answer has no text"):
        asking(heard)(ARTICLES, "eng")


def test_articles_without_text_are_not_asked_about() -> None:
    with endpoint(said("x")) as heard:
        assert asking(heard)([Article(0, "eng", " ")], "eng").text == ""
    assert not heard.bodies


@pytest.mark.parametrize(
    "written",
    [
        "http://localhost:8000/v1", "http://localhost:8000/v1#", "http:///v1#m", "https://h:x/v1#m",
        "http://user:s3cret@h/v1#m", "http://h/v1?key=s3cret#m", "http://[::1/v1#m",
        "http://h /v1#m",
    ],
)  # fmt: skip
def test_an_address_that_is_none(written: str) -> None:
    with pytest.raises(ConfigError, match="MODEL") as caught:
        make_summarizer(written)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("written", ["extractiv", "ftp://h/v1#m", "hf", "extractive:", "openai"])
def test_an_unknown_summarizer_names_the_known(written: str) -> None:
    with pytest.raises(ConfigError, match=r"unknown summarizer .*hf:NAME_OR_FOLDER"):
        make_summarizer(written)


def test_the_extractive_one_needs_an_encoder() -> None:
    with pytest.raises(ConfigError, match="embed"):
        make_summarizer("extractive")


TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))


def test_what_is_sent_has_one_shape_whatever_articles_say() -> None:
    articles = st.lists(
        st.builds(Article, st.integers(0, 5), st.just("eng"), TEXT, TEXT), min_size=1
    )

    with endpoint(said("Over.")) as heard, mock.patch.dict(os.environ, clear=False):
        os.environ.pop(KEY, None)
        summarise = asking(heard)

        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(articles)
        def sent(drawn: list[Article]) -> None:
            before = len(heard.bodies)
            summary = summarise([Article(9, "eng", "One that can be read"), *drawn], "eng")
            assert summary.text == "Over."
            assert len(heard.bodies) == before + 1
            body = heard.bodies[-1]
            assert set(body) == {"model", "messages", "temperature", "max_tokens"}
            assert [m["role"] for m in body["messages"]] == ["system", "user"]
            assert body["messages"][0]["content"] == SYSTEM
            data = body["messages"][1]["content"].split("\n")[2:-2]
            assert all(set(json.loads(line)) == {"language", "title", "text"} for line in data)

        sent()
