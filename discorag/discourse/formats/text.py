"""A chunk's RST tree drawn in text."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError
from discorag.text.escaping import one_line

_LABEL = 60  # characters of an EDU that a label shows

_Constituent = tuple[int, int]


def tree_text(chunk: Chunk) -> str:
    """The tree drawn in text: one line per constituent, with its role (N nucleus, S satellite) in its parent.

    Raises:
        InvariantError: The chunk has no tree.
    """
    tree = tree_of(chunk)
    everything = (0, len(tree.edus))
    branches: dict[_Constituent, Tree] = {everything: Tree(Text(_label(chunk, tree, everything)))}
    for parent, child, role in _links(tree):
        branches[child] = branches[parent].add(Text(f"{role}  {_label(chunk, tree, child)}"))
    drawn = StringIO()
    Console(file=drawn, width=4 * len(tree.edus) + 3 * _LABEL, color_system=None).print(branches[everything])
    return drawn.getvalue()


def tree_of(chunk: Chunk) -> RstTree:
    """The chunk's tree.

    Raises:
        InvariantError: It has none.
    """
    if chunk.tree is None:
        raise InvariantError(f"Chunk {chunk.order} of {chunk.doc_id} has no RST tree.", hint="Parse it first.")
    return chunk.tree


def _links(tree: RstTree) -> Iterator[tuple[_Constituent, _Constituent, str]]:
    """Parent, child and the child's role, for every edge: a parent before its children, left before right."""
    for split in tree.splits:
        roles = split.nuclearity.value
        yield (split.start, split.end), (split.start, split.mid), roles[0]
        yield (split.start, split.end), (split.mid, split.end), roles[1]


def _label(chunk: Chunk, tree: RstTree, part: _Constituent) -> str:
    start, end = part
    if end - start > 1:
        return f"{tree.split_at(start, end).relation.value} {start + 1}-{end}"
    return f"{end}: {one_line(chunk.slice(tree.edus[start]))}"
