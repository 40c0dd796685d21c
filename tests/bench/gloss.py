"""The best encoder of 15 languages that can be made here: word for word into English, and read by
an English model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.sample import LANGUAGES
from newsrec.encode.static import StaticEncoder
from newsrec.mini.build import gather
from newsrec.text.heldout import cut
from newsrec.types import EncoderSpec
from newsrec.types.embeddings import unit_rows
from tests.bench.lexicon import Lexicon, Word, Words, english_words, learn

_BATCH = 64
#: Tokens of a text that the model reads.
_LENGTH = 128
#: A word that no translation showed is read as the one that looks most like it: at least this
#: much of its letters (cosine of letter groups), and this much with 0.7 of the vectors' cosine.
_LETTERS, _ALIKE, _VECTOR = 0.3, 0.8, 0.7


class Gloss:
    """Every word of a text as the English word that stood beside it most in translations, in the
    order of the text; the mean of the tokens that an English BERT makes of them. A text in English
    is read as it is.

    ``folder``: a model with a BERT word table, such as all-MiniLM-L6-v2; ``data``: the shared data.
    """

    def __init__(self, folder: Path, data: Path, languages: Sequence[str] = LANGUAGES) -> None:
        from transformers import AutoModel, AutoTokenizer

        self._model = AutoModel.from_pretrained(folder).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        known = self._tokenizer.get_vocab()
        mini = StaticEncoder()
        pool, _ = gather(data, cut(data), mini._clean)
        mine = pool.languages.index("eng")
        sides = (text for text, at in zip(pool.texts, pool.language, strict=True) if at == mine)
        english = english_words(sides, known)
        self._words = Words(mini)
        self._english = frozenset(english)
        self._tongues = {
            language: _Tongue(learn(pool, language, self._words, english), self._words)
            for language in languages
            if language != "eng"
        }
        dim = self._model.config.hidden_size
        self.spec = EncoderSpec(
            name="MiniLM, word for word", revision=mini.revision, dim=dim, pooling="mean",
            levels=(dim,), normalized=True,
        )  # fmt: skip

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim)``, rows of length 1."""
        read = self._words.of(texts)
        spoken = [self.language(words) for words in read]
        rows: list[list[int]] = [[] for _ in texts]
        for language in sorted(set(spoken)):
            mine = [i for i, at in enumerate(spoken) if at == language]
            for i, tokens in zip(mine, self._tokens(language, texts, read, mine), strict=True):
                rows[i] = tokens[: _LENGTH - 2]
        return self._vectors(rows)

    def language(self, words: Sequence[Word]) -> str:
        """The language that knows most of the words; numbers and signs are of none."""
        spelt = {word: self._words.spell(word) for word in words}
        lettered = [word for word in words if any(sign.isalpha() for sign in spelt[word])]
        known = {"eng": sum(spelt[word] in self._english for word in lettered)}
        for language, tongue in self._tongues.items():
            known[language] = sum(word in tongue.lexicon.english for word in lettered)
        return max(known, key=known.__getitem__)

    def _tokens(
        self, language: str, texts: Sequence[str], read: Sequence[Sequence[Word]], mine: list[int]
    ) -> list[list[int]]:
        lines = [texts[i] for i in mine]
        if language != "eng":
            glosses = self._tongues[language].glosses([read[i] for i in mine])
            lines = [" ".join(line) for line in glosses]
        return self._tokenizer(lines, add_special_tokens=False)["input_ids"]  # type: ignore[no-any-return]

    def _vectors(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        import torch

        first, last = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        found = np.zeros((len(rows), self.spec.dim), np.float32)
        order = np.argsort([len(row) for row in rows], kind="stable")
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            width = max(len(rows[i]) for i in some)
            ids = torch.tensor(
                [[first, *rows[i], last] + [0] * (width - len(rows[i])) for i in some]
            )
            mask = torch.tensor(
                [[1] * (len(rows[i]) + 2) + [0] * (width - len(rows[i])) for i in some]
            )
            with torch.no_grad():
                state = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            found[some] = (state * mask[:, :, None]).sum(1).numpy()
        return unit_rows(found)


class _Tongue:
    """One language: a lexicon, and a guess for what is not in it."""

    def __init__(self, lexicon: Lexicon, words: Words) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.lexicon, self._words = lexicon, words
        self._known = [word for word in lexicon.english if len(words.spell(word)) > 2]
        self._letters: Any = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, dtype=np.float32
        )
        self._table = self._letters.fit_transform([words.spell(word) for word in self._known])
        self._vectors = words.vectors(self._known)

    def glosses(self, texts: Sequence[Sequence[Word]]) -> list[list[str]]:
        """English words for the words of each text. A number stays, as does what is in ASCII
        letters and like nothing known, since that is often a name; punctuation and the rest go."""
        units = [self.lexicon.units(words) for words in texts]
        english = self.lexicon.english
        guess = self._guessed(sorted({w for text in units for w in text if w not in english}))
        return [[word for unit in text if (word := self._one(unit, guess))] for text in units]

    def _one(self, unit: Word, guess: dict[Word, str]) -> str:
        spelt = self._words.spell(unit)
        if not any(sign.isalnum() for sign in spelt):
            return ""
        if spelt.isascii() and any(sign.isdigit() for sign in spelt):
            return spelt
        found = self.lexicon.english.get(unit) or guess.get(unit)
        return found or (spelt if spelt.isascii() else "")

    def _guessed(self, words: Sequence[Word]) -> dict[Word, str]:
        found = {}
        for start in range(0, len(words), 256):
            some = words[start : start + 256]
            spelt = [self._words.spell(word) for word in some]
            letters = (self._letters.transform(spelt) @ self._table.T).toarray()
            alike = letters + _VECTOR * (self._words.vectors(some) @ self._vectors.T)
            best = alike.argmax(1)
            for row, (word, at) in enumerate(zip(some, best, strict=True)):
                if letters[row, at] > _LETTERS and alike[row, at] > _ALIKE:
                    found[word] = self.lexicon.english[self._known[at]]
        return found
