"""RST trees in the ``.dis`` format of RST-DT and GUM; and what reading and writing share with `rs3`.

Nuclearity and relation are given on the children: a satellite names its relation, its nucleus says ``span``,
and nuclei of a multinuclear relation all name it. Our trees are binary, the formats' are not: `join` binarises.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from discorag.discourse.formats.text import tree_of
from discorag.discourse.parse.gum_labels import RELATIONS
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError
from discorag.schema.values import Span

_NUCLEUS_OF_SATELLITES = "span"
_ROLES = {"N": "Nucleus", "S": "Satellite"}
_TOKEN = re.compile(
    r"""  \(\s*(?P<open>Root|Nucleus|Satellite)\b
        | \(\s*rel2par\s+(?P<rel2par>[^\s()]+)\s*\)
        | \(\s*text\s+_!(?P<text>.*?)_!\s*\)
        | (?P<numbers>\(\s*(?:span|leaf)\b[\s\d]*\))
        | (?P<close>\))
        | (?P<unknown>\S+)""",
    re.DOTALL | re.VERBOSE,
)


class Part(NamedTuple):
    """A constituent: EDUs ``[start, end)``, and the name of the relation to its parent."""

    start: int
    end: int
    name: str


class Cut(NamedTuple):
    """A binary node as a file has it: EDUs ``[start, mid)`` and ``[mid, end)``, and the names of both sides."""

    start: int
    mid: int
    end: int
    nuclearity: Nuclearity
    names: tuple[str, str]

    @property
    def label(self) -> str:
        """The satellite's name; of two nuclei the right one's."""
        return self.names[self.nuclearity is not Nuclearity.SN]


def write_dis(chunk: Chunk) -> str:
    """The tree as ``.dis``; an EDU's text is on one line, and ``_!``, which delimits texts, becomes ``_ !`` inside it.

    Raises:
        InvariantError: The chunk has no tree, or an EDU is blank.
    """
    tree = tree_of(chunk)
    texts = [text.replace("_!", "_ !") for text in edu_texts(chunk, tree)]
    lines: list[str] = []
    stack: list[tuple[str, Part, int] | str] = [("Root", Part(0, len(texts), ""), 0)]
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


def _children(split: Split) -> tuple[tuple[str, Part], tuple[str, Part]]:
    """Role and constituent of both sides."""
    name = name_of(split.relation)
    left, right = (
        name if role == "S" or split.nuclearity is Nuclearity.NN else _NUCLEUS_OF_SATELLITES
        for role in split.nuclearity.value
    )
    left_role, right_role = (_ROLES[role] for role in split.nuclearity.value)
    return (left_role, Part(split.start, split.mid, left)), (right_role, Part(split.mid, split.end, right))


@dataclass
class _Node:
    """A node whose bracket is still open; its children with their roles."""

    role: str
    name: str = ""
    text: str | None = None
    children: list[tuple[str, Part]] = field(default_factory=list[tuple[str, Part]])

    def of_role(self, role: str) -> list[Part]:
        return [part for r, part in self.children if r == role]


def read_dis(dis: str) -> tuple[str, RstTree]:
    """The text, its EDUs joined by single spaces, and the tree over it; span and leaf numbers are ignored.

    Raises:
        InvariantError: It is not a tree, a text is blank, or a relation is unknown.
    """
    leaves, cuts = raw_dis(dis)
    text, edus = join_units(leaves)
    return text, build_tree(edus, cuts)


def raw_dis(dis: str) -> tuple[list[str], list[Cut]]:
    """The EDUs' texts, and the tree binarised as `join` says with the file's own labels, in pre-order.

    Raises:
        InvariantError: It is not a tree.
    """
    leaves: list[str] = []
    cuts: list[Cut] = []
    top = _Node("")
    stack = [top]
    for match in _TOKEN.finditer(dis):
        kind = match.lastgroup or ""
        if kind == "open":
            stack.append(_Node(match[kind]))
        elif kind == "unknown" or len(stack) == 1:
            raise _malformed(f"'{match[0][:40]}' at character {match.start()} does not belong there")
        elif kind == "rel2par":
            stack[-1].name = match[kind]
        elif kind == "text":
            stack[-1].text = match[kind]
        elif kind == "close":
            node = stack.pop()
            stack[-1].children.append((node.role, _close(node, leaves, cuts)))
    if len(stack) > 1 or len(top.of_role("Root")) != 1 or len(top.children) != 1:
        raise _malformed("it is not one whole Root node")
    return leaves, sorted(cuts, key=lambda cut: (cut.start, -cut.end))


def _close(node: _Node, leaves: list[str], cuts: list[Cut]) -> Part:
    """The constituent of a node all of which has been read; its leaf and its cuts are added."""
    nuclei, satellites = node.of_role("Nucleus"), node.of_role("Satellite")
    if node.text is not None and not node.children:
        leaves.append(node.text)
        return Part(len(leaves) - 1, len(leaves), node.name)
    if node.text is not None or not nuclei or len(nuclei) + len(satellites) < len(node.children):
        raise _malformed(f"the {node.role} that ends after unit {len(leaves)} must hold either a text or a nucleus")
    return Part(*join(nuclei, satellites, cuts), node.name)


def _malformed(what: str) -> InvariantError:
    return InvariantError(
        f"This is not a .dis tree: {what}.", hint="Check its brackets, and that every text is in _!...!_."
    )


# --- shared with rs3 ------------------------------------------------------------------------------


def edu_texts(chunk: Chunk, tree: RstTree) -> list[str]:
    """Each EDU's text on one line: a run of white space inside it is one space.

    Raises:
        InvariantError: An EDU is blank.
    """
    return [one_line(chunk.slice(span)) for span in tree.edus]


def one_line(text: str) -> str:
    """``text`` with every run of white space as one space.

    Raises:
        InvariantError: There is nothing else in it.
    """
    line = " ".join(text.split())
    if not line:
        raise InvariantError("A unit has no text.", hint="Remove the unit, or give it its text.")
    return line


def join_units(texts: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """The text that the units make when single spaces join them, and where they lie in it.

    Raises:
        InvariantError: A unit is blank, or there is none.
    """
    if not texts:
        raise InvariantError("The tree has no units.", hint="A tree has at least one unit with text.")
    edus: list[Span] = []
    at = 0
    lines = [one_line(text) for text in texts]
    for line in lines:
        edus.append(Span(start=at, end=at + len(line)))
        at += len(line) + 1
    return " ".join(lines), tuple(edus)


def join(nuclei: Sequence[Part], satellites: Sequence[Part], cuts: list[Cut]) -> tuple[int, int]:
    """Binarise one node: nuclei to the right, then satellites from the nearest (in EDUs), left before right.

    There is at least one nucleus; both are in any order. ``cuts`` receives the new cuts.

    Returns:
        The constituent's first EDU and its end.

    Raises:
        InvariantError: The parts are not one stretch of text.
    """
    nuclei = sorted(nuclei)
    start, end = nuclei[0].start, nuclei[-1].end
    for left, right in pairwise(nuclei):
        cuts.append(_cut(left, right, (left.start, end), Nuclearity.NN))
    low, high = start, end
    for part in sorted(satellites, key=lambda s: (max(start - s.end, s.start - end), s.start)):
        if part.start < start:
            cuts.append(_cut(part, Part(low, high, ""), (part.start, high), Nuclearity.SN))
        else:
            cuts.append(_cut(Part(low, high, ""), part, (low, part.end), Nuclearity.NS))
        low, high = min(low, part.start), max(high, part.end)
    return low, high


def _cut(left: Part, right: Part, whole: tuple[int, int], nuclearity: Nuclearity) -> Cut:
    if left.end != right.start:
        raise InvariantError(
            f"Units {left.start + 1}-{left.end} and {right.start + 1}-{right.end} are joined but are not neighbours.",
            hint="Trees with crossing branches cannot be represented: reattach one of them.",
        )
    return Cut(whole[0], left.end, whole[1], nuclearity, (left.name, right.name))


def build_tree(edus: tuple[Span, ...], cuts: Sequence[Cut]) -> RstTree:
    """The tree with the relations that the labels mean.

    Raises:
        InvariantError: A relation is unknown, or the cuts are not a tree.
    """
    splits: dict[tuple[int, int], Split] = {}
    for cut in cuts:
        relation = relation_of(cut.label, cut.nuclearity)
        if cut.nuclearity is Nuclearity.NN:
            relation_of(cut.names[0], Nuclearity.NN)  # the right one names the split, but both must be known
        splits[cut.start, cut.end] = Split(
            start=cut.start, mid=cut.mid, end=cut.end, relation=relation, nuclearity=cut.nuclearity
        )
    return from_splits(edus, splits)


def name_of(relation: Relation) -> str:
    """The relation's name in a file."""
    return relation.value.lower()


def relation_of(name: str, nuclearity: Nuclearity) -> Relation:
    """The relation that a file means by ``name``: one of ours in any case, or one of GUM's labels.

    A label of GUM that has no counterpart here becomes ELABORATION, between two nuclei JOINT.

    Raises:
        InvariantError: The name is unknown, or JOINT is to join a satellite.
    """
    if name in RELATIONS:
        relation = RELATIONS[name] or (Relation.JOINT if nuclearity is Nuclearity.NN else Relation.ELABORATION)
    elif name.upper() in Relation.__members__:
        relation = Relation[name.upper()]
    else:
        known = ", ".join(map(name_of, Relation))
        raise InvariantError(f"Unknown relation '{name}'.", hint=f"Known are GUM's labels and: {known}.")
    if relation is Relation.JOINT and nuclearity is not Nuclearity.NN:
        raise InvariantError(f"'{name}' joins a satellite.", hint="It is multinuclear: make both sides nuclei.")
    return relation
