"""The encoders of one job by name, each loaded once, and their vectors from the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newsrec import build
from newsrec.config import EncoderConfig
from newsrec.corpus import Corpus
from newsrec.encode.presets import PRESETS
from newsrec.pipeline.stored import Words, getter
from newsrec.protocols import Encoder
from newsrec.types import Embeddings

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

OnProgress = Callable[[int, int], None]


@dataclass
class Encoders:
    """``loaded``: by label; those that are there at the beginning are used as they are, without
    their config. ``store`` None: the usual one."""

    trust_remote_code: bool = False
    store: EmbeddingStore | None = None
    on_progress: OnProgress | None = None
    loaded: dict[str, Encoder] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._given = frozenset(self.loaded)

    def of(self, config: EncoderConfig) -> Encoder:
        """The encoder of that label."""
        if config.label not in self.loaded:
            self.loaded[config.label] = build.encoder(config, self.trust_remote_code)
        return self.loaded[config.label]

    def getter(
        self, corpus: Corpus, config: EncoderConfig, view: str
    ) -> Callable[[str], Embeddings]:
        """From a language of ``corpus`` to all news in it; missing vectors are encoded."""
        named = self.store is None and config.label not in self._given
        words = Words(config.label, self.trust_remote_code) if named else None
        return getter(corpus, self.of(config), view, self.store, words, self.on_progress)

    def specs(self) -> dict[str, Any]:
        """Those that are loaded, for provenance."""
        return {name: asdict(found.spec) for name, found in self.loaded.items()}


def anywhere(config: EncoderConfig) -> EncoderConfig:
    """With the whole path of a folder: a ranker is used from other places, too."""
    preset, equals, folder = config.name.rpartition("=")
    path = Path(folder).expanduser()
    if not path.is_dir() or (path.name == folder and not equals and folder in PRESETS):
        return config
    return config.model_copy(update={"name": f"{preset}{equals}{path.resolve()}"})
