"""Plain values, as JSON has them: flattened, told apart, digested."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(value: Any) -> str:
    """16 hex digits of ``value`` as JSON with sorted keys; what JSON does not know is its text."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def flat(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings with keys joined by dots."""
    found: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def differences(before: Mapping[str, Any], now: Mapping[str, Any], most: int = 4) -> str:
    """``options.epochs: 2, now 3; …``: where two mappings differ as JSON has them, "" if nowhere;
    at most ``most`` places, each cut short."""
    old, new = (flat(json.loads(json.dumps(dict(x), default=str))) for x in (before, now))
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    return "; ".join(f"{k}: {old.get(k)!r}, now {new.get(k)!r}"[:160] for k in keys[:most])
