"""What notebooks ask of types: to draw themselves."""

from __future__ import annotations

from pkgutil import resolve_name

_DRAWN = {
    "RstTree": "discorag.drawn.tree:tree_svg",
    "Chunk": "discorag.drawn.tree:chunk_svg",
    "RhetoricalGraph": "discorag.drawn.graph:graph_svg",
    "Answer": "discorag.drawn.answer:answer_html",
}


class Drawn:
    """What a notebook draws; how stands in a room above this one, which is opened when something is drawn.

    Example:
        >>> from discorag.types.graph import RhetoricalGraph
        >>> RhetoricalGraph(chunks=("a", "b"))._repr_html_()[:4]
        '<svg'
    """

    def _repr_html_(self) -> str:
        return resolve_name(_DRAWN[type(self).__name__])(self)
