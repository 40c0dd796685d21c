"""What was chosen for `mini`, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from newsrec.adapt.batches import Options
from newsrec.text import heldout
from newsrec.text.groups import SOURCES

#: Languages that get most of the pieces and are drawn most often: xMIND's, English, German.
CORE = ("eng", *heldout.SIB, "deu")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that was chosen; `QUICK` is the same in small."""

    n_pieces: int = 122_000
    dim: int = 256
    characters: tuple[int, int] = (1_000_000, 160_000)  # of the piece sample: CORE, other languages
    taught: dict[str, int] = field(
        default_factory=lambda: {
            "mafand": 6_000, "tatoeba": 25_000, "wmt": 15_000, "dictionary": 30_000, "stsb": 9_000,
            "wmt22_docs": 0,
        }
    )  # fmt: skip
    share: dict[str, float] = field(
        default_factory=lambda: {
            "ntrex": 0.11, "flores": 0.08, "sib": 0.06, "tico19": 0.05, "stsb": 0.05, "wmt": 0.14,
            "mafand": 0.06, "tatoeba": 0.25, "guarani": 0.03, "haitian": 0.015, "udhr": 0.003,
            "wmt22_docs": 0.01, "headlines": 0.015, "english": 0.015, "dictionary": 0.11,
            "panlex": 0.05,
        }
    )  # fmt: skip
    language_power: float = 0.35  # a text is drawn with weight n ** -power of its language's size
    core_weight: float = 4.0
    limit: float = 2.0  # of the length of a piece's vector; the median is 1 before
    options: Options = field(default_factory=Options)
    # Temperature and steps of the runs that are averaged: long ones know sentences better, short
    # and soft ones topics.
    plan: tuple[tuple[float, int], ...] = (*[(0.1, 6000)] * 4, (0.1, 1500), (0.14, 1500))

    def runs(self, seed: int) -> list[tuple[int, Options]]:
        """Seed and options of every run."""
        return [
            (100 * seed + i, replace(self.options, temperature=temperature, steps=steps))
            for i, (temperature, steps) in enumerate(self.plan)
        ]


QUICK = Recipe(
    n_pieces=600,
    dim=32,
    plan=((0.1, 30), (0.14, 20)),
    characters=(20_000, 20_000),
    taught=dict.fromkeys(SOURCES, 60) | {"dictionary": 60},
    options=Options(n_groups=60, warm_up=5, levels=(8, 16, 32), checkpoint=10, average_from=0.5),
)
