"""A tree of clusters in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from newsrec.cli.printable import printable
from newsrec.cluster.view import Node, View, plural


def lines(view: View, top: int) -> Iterator[str]:
    """How many there are, then the ``top`` largest of each level under their parents."""
    counts = zip(view.n_clusters, view.levels, strict=True)
    shown = " › ".join(f"{n} {level if n == 1 else plural(level)}" for n, level in counts)
    yield f"{shown}, {view.root.n} articles"
    yield from _under(view.root, top)


def _under(node: Node, top: int) -> Iterator[str]:
    """The largest clusters under ``node``, each with its own."""
    for child in node.children[:top]:
        words = f" · {', '.join(child.keywords[:5])}" if child.keywords and child.children else ""
        yield "  " * child.level + printable(f"{child.name} ({child.n}){words}")
        if child.summary:
            yield "  " * child.level + printable(f"  {child.summary}")
        yield from _under(child, top)
    if node.n_children > top and node.children:
        yield "  " * node.children[0].level + f"and {node.n_children - top} smaller ones"
