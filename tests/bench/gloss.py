"""The best encoder of 15 languages that can be made here without training one: English, glossed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.encode.static import StaticEncoder, unpack
from newsrec.types import EncoderSpec
from newsrec.types.embeddings import unit_rows

_BATCH = 48


class Gloss:
    """`mini` reads, an English BERT understands: every piece of a text is given to the model as the
    English word whose vector in `mini` is nearest, in the order of the text; mean of the tokens.

    ``folder``: a model with a BERT word table, such as all-MiniLM-L6-v2.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self._model = AutoModel.from_pretrained(folder).eval()
        known = AutoTokenizer.from_pretrained(folder)
        self._ends = (known.cls_token_id, known.sep_token_id)
        self._mini = StaticEncoder()
        self._word = _nearest_words(self._mini, known.get_vocab())
        dim = self._model.config.hidden_size
        self.spec = EncoderSpec(
            name="mini glossed for MiniLM", revision=self._mini.revision, dim=dim, pooling="mean",
            levels=(dim,), normalized=True,
        )  # fmt: skip

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim)``, rows of length 1."""
        import torch

        first, last = self._ends
        rows = [
            [first, *self._word[[p for p in ids if p]].tolist(), last]
            for ids in self._mini.pieces(texts)
        ]
        found = np.zeros((len(rows), self.spec.dim), np.float32)
        order = np.argsort([len(row) for row in rows], kind="stable")
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            width = max(len(rows[i]) for i in some)
            ids = torch.tensor([rows[i] + [0] * (width - len(rows[i])) for i in some])
            mask = torch.tensor([[1] * len(rows[i]) + [0] * (width - len(rows[i])) for i in some])
            with torch.no_grad():
                state = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
            found[some] = (state * mask[:, :, None]).sum(1).numpy()
        return unit_rows(found)


def _nearest_words(mini: StaticEncoder, vocabulary: dict[str, int]) -> NDArray[np.int64]:
    """``(n_pieces,)``: of the words that both know, the number in ``vocabulary`` of the nearest."""
    table = unit_rows(unpack(mini._codes, mini._step))
    names = mini._rows[0::2]
    both = [
        i for i, name in enumerate(names)
        if name.startswith("▁") and len(name) > 3 and name[1:].isalpha() and name[1:] in vocabulary
    ]  # fmt: skip
    number = np.array([vocabulary[names[i][1:]] for i in both])
    blocks = range(0, len(table), 4096)
    return np.concatenate([number[(table[b : b + 4096] @ table[both].T).argmax(1)] for b in blocks])
