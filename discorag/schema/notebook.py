"""What notebooks ask of types: to draw themselves."""

from __future__ import annotations

from pkgutil import resolve_name

_DRAWN = {
    "RstTree": "discorag.discourse.formats.tree_svg:tree_svg",
    "Chunk": "discorag.discourse.formats.tree_svg:chunk_svg",
    "RhetoricalGraph": "discorag.discourse.formats.graph_svg:graph_svg",
    "Answer": "discorag.generation.answer_html:answer_html",
}


class Drawn:
    """What a notebook draws; how stands in a room above this one, which is opened when something is drawn.

    Example:
        >>> from discorag.schema.graph import RhetoricalGraph
        >>> RhetoricalGraph(chunks=("a", "b"))._repr_html_()[:4]
        '<svg'
    """

    def _repr_html_(self) -> str:
        return resolve_name(_DRAWN[type(self).__name__])(self)
