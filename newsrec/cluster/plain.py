"""Text that is only text: no markup, no links, no control characters, no tokens of chat formats."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable

from newsrec.cluster.sentences import is_sentence, split_sentences

#: Characters of a model's answer that are looked at; a summary is far shorter.
MOST_ANSWER = 20_000

_JOINERS = "\u200c\u200d"  # Persian and Indic scripts need them
# Every repetition is bounded: a hostile text must not cost more than a long one.
_HIDDEN = re.compile(
    r"<(script|style)\b.{0,4000}?</\1\s{0,9}>|<!--.{0,4000}?-->", re.DOTALL | re.IGNORECASE
)
_TAG = re.compile(r"<[/!?|｜]?[^\s<>][^<>]{0,2000}>|<[a-z]>", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|www\.|(?:javascript|vbscript|data|mailto):(?=\S)"
    r"|(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}/)[!-~]*",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\n]{0,2000}\)")
_BRACKETED = re.compile(r"\[/?[A-Z]{3,}(?:_[A-Z]+)*\]")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|$)", re.DOTALL | re.IGNORECASE)
_TURN = re.compile(
    r"<[|｜](?:eot_id|eom_id|im_end|im_start|end|endoftext|end_of_text|start_header_id|user|system"
    r"|assistant|end▁of▁sentence)[|｜]>|</s>|<end_of_turn>|<start_of_turn>|<eos>|\[/?INST\]"
)
_ROLE = re.compile(
    r"^[ \t]*(?:#+[ \t]*)?(?:system|user|assistant|human|developer|instruction|response|summary)"
    r"[ \t]*:[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"(?:```+|~~~+)[^\n`~]{0,20}(?:\n|$)|```+|~~~+")
_BULLET = re.compile(r"^[ \t]*(?:#{1,6}|[-*+•>]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
# What is left of a tag that never closes; "5 < 6" is none.
_OPEN_TAG = re.compile(r"<(?=[^\s\d=])")
_SPACED_STOP = re.compile(r" ([.,](?:\s|$))")
_DEEPEST = 8
_SIGNS = re.compile(r"[*`<>|]|__|~~|^#+|\[\[|\]\]", re.MULTILINE)


def without_markup(text: str) -> str:
    """``text`` without control and hidden characters, tags and addresses; lines are kept."""
    return _until_stable(text, _stripped)


def answer_text(text: str) -> str:
    """What a model said, as plain lines: also without its thoughts, roles, fences and Markdown.

    What follows a token that ends the model's turn is another turn, and is dropped.
    """
    said = _THOUGHT.sub(" ", text[:MOST_ANSWER])
    turns = (_until_stable(turn, _unmarked) for turn in _TURN.split(said))
    return next((turn for turn in turns if turn), "")


def answer_sentences(text: str, language: str, most: int = 3) -> tuple[str, ...]:
    """The first ``most`` sentences of a model's answer, without a last one that breaks off."""
    found = split_sentences(answer_text(text), language)
    whole = [is_sentence(sentence) for sentence in found]
    if any(whole[:-1]) and not whole[-1]:
        found.pop()
    return tuple(found[:most])


def _until_stable(text: str, change: Callable[[str], str]) -> str:
    """Removing may put together what was apart (``&am<b>p;lt;``), so it goes on until nothing
    changes; of a text that hides markup deeper than anyone writes, letters and digits stay."""
    for _ in range(_DEEPEST):
        changed = change(text)
        if changed == text:
            return text
        text = changed
    return " ".join("".join(c if c.isalnum() or c == "\n" else " " for c in text).split(" "))


def _stripped(text: str) -> str:
    text = "".join(_visible(char) for char in html.unescape(text))
    text = _OPEN_TAG.sub(" ", _TAG.sub(" ", _HIDDEN.sub(" ", text)))
    text = _ADDRESS.sub(_behind, text)
    lines = (_SPACED_STOP.sub(r"\1", " ".join(line.split())) for line in text.split("\n"))
    return "\n".join(lines)


def _behind(address: re.Match[str]) -> str:
    """A space for the address, and the punctuation behind it that is the sentence's."""
    whole = address[0]
    return " " + whole[len(whole.rstrip(".,;:!?)]\"'")) :]


def _unmarked(text: str) -> str:
    text = _LINK.sub(r"\1", _BRACKETED.sub(" ", _stripped(text)))
    return _SIGNS.sub("", _BULLET.sub("", _ROLE.sub("", _FENCE.sub("\n", text)))).strip()


def _visible(char: str) -> str:
    """``char``, or a space or nothing in the place of one that is not to be seen."""
    if char.isascii() and char.isprintable():
        return char
    if char in "\n\r\u2028\u2029\x85":
        return "\n"
    kind = unicodedata.category(char)
    if kind in ("Cc", "Zs"):
        return " "
    return "" if kind in ("Cf", "Cs", "Co", "Cn") and char not in _JOINERS else char
