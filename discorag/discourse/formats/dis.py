"""RST trees in the ``.dis`` format of RST-DT and GUM.

Nuclearity and relation are given on the children: a satellite names its relation, its nucleus says ``span``,
and nuclei of a multinuclear relation all name it.
"""

from __future__ import annotations

from typing import NamedTuple

from discorag.discourse.formats.text import tree_of
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError

_NUCLEUS_OF_SATELLITES = "span"
_ROLES = {"N": "Nucleus", "S": "Satellite"}


class _Part(NamedTuple):
    """A constituent: EDUs ``[start, end)``, and the name of the relation to its parent."""

    start: int
    end: int
    name: str


def write_dis(chunk: Chunk) -> str:
    """The tree as ``.dis``; an EDU's text is on one line, and ``_!``, which delimits texts, becomes ``_ !`` inside it.

    Raises:
        InvariantError: The chunk has no tree, or an EDU is blank.
    """
    tree = tree_of(chunk)
    texts = [text.replace("_!", "_ !") for text in edu_texts(chunk, tree)]
    lines: list[str] = []
    stack: list[tuple[str, _Part, int] | str] = [("Root", _Part(0, len(texts), ""), 0)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        role, part, depth = item
        indent, label = "  " * depth, f" (rel2par {part.name})" if part.name else ""
        if part.end - part.start == 1:
            lines.append(f"{indent}( {role} (leaf {part.end}){label} (text _!{texts[part.start]}_!) )")
            continue
        lines.append(f"{indent}( {role} (span {part.start + 1} {part.end}){label}")
        left, right = _children(tree.split_at(part.start, part.end))
        stack += [f"{indent})", (*right, depth + 1), (*left, depth + 1)]
    return "\n".join(lines) + "\n"


def _children(split: Split) -> tuple[tuple[str, _Part], tuple[str, _Part]]:
    """Role and constituent of both sides."""
    name = name_of(split.relation)
    left, right = (
        name if role == "S" or split.nuclearity is Nuclearity.NN else _NUCLEUS_OF_SATELLITES
        for role in split.nuclearity.value
    )
    left_role, right_role = (_ROLES[role] for role in split.nuclearity.value)
    return (left_role, _Part(split.start, split.mid, left)), (right_role, _Part(split.mid, split.end, right))


def edu_texts(chunk: Chunk, tree: RstTree) -> list[str]:
    """Each EDU's text on one line: a run of white space inside it is one space.

    Raises:
        InvariantError: An EDU is blank.
    """
    texts = [" ".join(chunk.slice(span).split()) for span in tree.edus]
    if not all(texts):
        raise InvariantError("A unit has no text.", hint="Remove the unit, or give it its text.")
    return texts


def name_of(relation: Relation) -> str:
    """The relation's name in a file."""
    return relation.value.lower()
