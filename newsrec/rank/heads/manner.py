"""MANNeR's modules (Iana, Glavaš & Paulheim 2023c): one news encoder, trained on clicks or labels.

News: text and entities end to end, one linear layer. User: the mean of the clicked news. Trained on
clicks with SCL it is the CR-module, trained on labels of one aspect an A-module
(`newsrec.rank.aspects`); `newsrec.rank.ensemble` adds their standardised scores.

With vectors of 768 numbers: 868·768 + 768 = 667,392 for the linear layer, 40,400 and 20,400 for
the attentions among entities, and 100 for each entity. Table 2's 1.7 M (and CAUM's 3.7 M, and the
2.1 M and 8.2 M with 1,024 numbers) leave 9,218 to 9,371 entities; with 9,300 it is 1,658,292.
"""

from __future__ import annotations

from newsrec.rank.heads.head import NewsHead
from newsrec.rank.heads.lfrec import MeanReader
from newsrec.rank.inputs import Inputs
from newsrec.rank.news_modules import JoinedParts


def manner(inputs: Inputs, *, dropout: float = 0.2) -> NewsHead:
    """A CR- or A-module; the news vector is as wide as the encoder's."""
    return NewsHead(
        news=JoinedParts(
            inputs.dim, len(inputs.views), inputs.dim, len(inputs.entities), dropout=dropout
        ),
        user=MeanReader(),
    )
