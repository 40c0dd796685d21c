"""Names of a package that are loaded on first use (PEP 562), so that importing it costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def late(
    package: str, modules: Mapping[str, str], also: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of ``package``; ``modules``: public name to its module;
    ``also``: names that are there already."""

    def load(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: sorted([*modules, *also])
