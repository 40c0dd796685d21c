"""Where a number comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Provenance:
    """In every report and every model folder.

    ``commit`` of newsrec ("" outside a checkout), ``config`` and its hash, ``corpus`` fingerprint,
    ``encoder`` spec fields, ``protocol`` name, ``seed``, ``versions`` of the libraries that matter.
    """

    commit: str
    config: Mapping[str, object]
    config_hash: str
    corpus: str
    encoder: Mapping[str, object]
    protocol: str
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Plain fields, ready for JSON."""
        return asdict(self)
