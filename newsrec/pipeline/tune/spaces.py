"""What is searched where nobody says: a space per head.

Paper 004 (appendix C) searched the learning rate in {1e-3, 1e-4, 1e-5}, 8, 12, 16, 24 or 32
attention heads, queries of 50 to 200 in steps of 50, and the temperature of the contrastive loss
from 0.1 to 0.5 in steps of 0.02. To these come dropout and the batch, which it left as they were.
"""

from __future__ import annotations

from newsrec.config import TrainConfig
from newsrec.config.space import Space, load_space

_RATE = "learning_rate=1e-5..1e-2 log"
_BATCH = "batch=[64, 128, 256, 512]"
#: An encoder forgets what it knows at rates that a head needs.
_TUNED_ENCODER = "learning_rate=1e-6..1e-3 log"
_QUERY = "query=50..200 step 50"
_HEADS = "heads=[8, 12, 16, 24, 32]"
_DROPOUT = "dropout=0..0.5"
_TEMPERATURE = "temperature=0.1..0.5 step 0.02"
_OF_HEAD = {
    "naml": (_QUERY, _DROPOUT),
    "naml-cat": ("width=[100, 200, 400, 768]", _QUERY, _DROPOUT),
    "mins": (_HEADS, "channels=[2, 4, 6, 8]", _QUERY, _DROPOUT),
    "caum": ("width=[200, 400]", _HEADS, _DROPOUT),
    "manner": (_TEMPERATURE, _DROPOUT),
    "lfrec-scl": (_TEMPERATURE,),
}


def default_space(config: TrainConfig) -> Space:
    """The space of the config's head, without what the config fixes."""
    frozen = config.trainable == "none"
    training = [_RATE if frozen else _TUNED_ENCODER]
    # Few impressions, and texts that are encoded anew, have small batches of their own.
    training += [_BATCH] * (frozen and not config.shots)
    space = load_space(", ".join([*training, *_OF_HEAD.get(config.head.name, ())]))
    return space.without(frozenset((*config.options, *config.head.options)))
