"""What only some installations have: the extras of the distribution; and what only notebooks ask for."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pkgutil import resolve_name

from discorag.types.errors import MissingExtraError

_DRAWN = {
    "RstTree": "discorag.drawn.tree:tree_svg",
    "Chunk": "discorag.drawn.tree:chunk_svg",
    "RhetoricalGraph": "discorag.drawn.graph:graph_svg",
    "Answer": "discorag.drawn.answer:answer_html",
}
OURS = frozenset({"discorag", "graphs", "nodes", "prompts"})


class Drawn:
    """What a notebook draws; how stands in a room above this one, which is opened when something is drawn.

    Example:
        >>> from discorag.types.graph import RhetoricalGraph
        >>> RhetoricalGraph(chunks=("a", "b"))._repr_html_()[:4]
        '<svg'
    """

    def _repr_html_(self) -> str:
        return resolve_name(_DRAWN[type(self).__name__])(self)


@contextmanager
def extra(name: str) -> Generator[None]:
    """Imports, and looks at versions, of what the extra ``name`` brings.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:  # also when the version of a distribution is asked that is not there
        if (error.name or "").partition(".")[0] in OURS:
            raise
        hint = f'Run: pip install "disco-rag[{name}]".'
        raise MissingExtraError(f"{error.name} is not installed.", hint=hint) from error
