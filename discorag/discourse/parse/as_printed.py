"""RST trees in the notation that Disco-RAG prints (fig. 10), and the parser that asks a model for it.

    EDUs:
    [1] Vitamin D helps
    [2] if you are deficient.
    RST ANALYSIS:
    RELATION(EDU2, EDU1): CONDITION
    TREE STRUCTURE:
    ROOT[1-2]
    |--- NUCLEUS[1] Vitamin D helps (N)
    |--- SATELLITE[2] if you are deficient. (S): CONDITION

The paper names a relation for a satellite; where both sides are nuclei we write it after the second. Its drawing has
all EDUs side by side below the root; ours is nested, which says more. Both are read.

Where nodes are drawn side by side, a satellite modifies the node to which the analysis relates it. If there is none, it
modifies the nearest nucleus: the left one if two are equally near. The two are joined as soon as they are neighbours
and nothing else modifies the satellite. Nuclei are joined last, from the right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from discorag.discourse.parse.alignment import align_edus
from discorag.discourse.parse.parser import Limits
from discorag.discourse.parse.spellings import normalise
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import Outcome
from discorag.schema.discourse import PAPER_RELATIONS, Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.text.fences import fenced
from discorag.text.replies import parts_of


@dataclass(frozen=True)
class Node:
    """A node of a printed tree: its EDUs (from 0, half-open), its role (N or S) and its relation."""

    start: int
    end: int
    role: str
    relation: str

    def holds(self, edu: int) -> bool:
        """Whether the zero-based EDU lies in it."""
        return self.start <= edu < self.end


_Joins = list[tuple[Node, Node]]


def join_nodes(nodes: Sequence[Node], links: Sequence[tuple[int, int]]) -> _Joins:
    """The two sides of every join, bottom up; the last one covers all nodes. A satellite modifies its nucleus.

    Args:
        nodes: Side by side, in text order.
        links: Pairs of EDUs that the analysis relates, the satellite first. Links that cross each other are ignored.

    Raises:
        ValueError: None of the nodes is a nucleus.
    """
    if all(node.role == "S" for node in nodes):
        raise ValueError(f"EDUs {nodes[0].start + 1}-{nodes[-1].end}: at least one of the sides must be a nucleus.")
    return _joins(nodes, _heads(nodes, links)) or _joins(nodes, _heads(nodes, []))


def _heads(nodes: Sequence[Node], links: Sequence[tuple[int, int]]) -> dict[int, int]:
    """The node that each satellite modifies; both by their places in ``nodes``."""
    nuclei = [i for i, node in enumerate(nodes) if node.role == "N"]
    heads = {s: min(nuclei, key=lambda n: (abs(n - s), n)) for s, node in enumerate(nodes) if node.role == "S"}
    for s, (first, second) in product(heads, links):
        if nodes[s].holds(first) != nodes[s].holds(second):
            edu = second if nodes[s].holds(first) else first
            other = next((n for n, node in enumerate(nodes) if node.holds(edu)), None)
            if other is not None and (other in nuclei or nodes[s].holds(first)):
                heads[s] = other
    return heads


def _joins(nodes: Sequence[Node], heads: Mapping[int, int]) -> _Joins:
    """The joins; none if satellites cross, or modify each other in a circle."""
    joins: _Joins = []

    def grow(i: int) -> Node:
        """The node joined to its satellites: those on its left first, on each side the nearest first."""
        grown = replace(nodes[i], role="N")
        for s in sorted((s for s, head in heads.items() if head == i), key=lambda s: (s > i, abs(s - i))):
            left, right = sorted((grown, grow(s)), key=lambda side: side.start)
            joins.append((left, right))
            grown = replace(grown, start=left.start, end=right.end)
        return replace(grown, role=nodes[i].role)

    nuclei = [grow(i) for i, node in enumerate(nodes) if node.role == "N"]
    while len(nuclei) > 1:
        left, right = nuclei[-2:]
        joins.append((left, right))
        nuclei[-2:] = [replace(left, end=right.end)]
    is_tree = len(joins) == len(nodes) - 1 and all(left.end == right.start for left, right in joins)
    return joins if is_tree else []


_EDU = re.compile(r"[\W_]*(?:EDU)?\W?(\d{1,4})(?:\]|[.):](?=[\s*_]|$))[:*_]*\s*(.*)", re.IGNORECASE)
_INLINE = re.compile(r"(?<=\S)\s+\[(\d{1,4})\]")
_EDUS = r"(\d{1,4})(?:\s*(?:[-–—](?!>)|\.\.)\s*(?:EDU\W?)?(\d{1,4}))?"
_NODE = re.compile(rf"^[^\w\n]*(NUCLEUS|SATELLITE)\W{{1,3}}(?:EDU\W?)?{_EDUS}(?!\d)", re.IGNORECASE | re.MULTILINE)
_ROLE = re.compile(r"\(\W{0,3}(N|S)(?:UCLEUS|ATELLITE)?\b[^\w\n(]*([A-Z]+)?", re.IGNORECASE)
_PAIR = re.compile(rf"(?<!\d){_EDUS}(?:[\W_]|EDU){{1,12}}{_EDUS}(?!\d)", re.IGNORECASE)
_NAMES = {r.value for r in PAPER_RELATIONS}

_Range = tuple[int, int]
_ROLES = {"NS": Nuclearity.NS, "SN": Nuclearity.SN, "NN": Nuclearity.NN}


def read(reply: str, text: str, offset: int) -> RstTree:
    """The tree over ``text``, in document offsets, that a reply in the paper's notation draws.

    The drawing determines the tree. The analysis helps where a drawing is flat or does not name a relation; its
    lines that cannot be read are ignored.

    Raises:
        ValueError: The EDUs or the drawing are missing, or the EDUs are not the text (see `align_edus`). Or a relation
            is not one of the 24, or the drawing is not one binary tree. The message tells the model what to change.
    """
    parts = parts_of(normalise(reply), "EDU", "RST ANALYSIS", "TREE STRUCTURE")
    if "EDU" not in parts or "TREE STRUCTURE" not in parts:
        raise ValueError("Write the three parts 'EDUs:', 'RST ANALYSIS:' and 'TREE STRUCTURE:', each on its own line.")
    edus = align_edus(_edus(parts["EDU"]), text, offset=offset)
    sides = _drawing(parts["TREE STRUCTURE"], len(edus))
    return from_splits(edus, dict(_splits(sides, dict(_analysis(parts.get("RST ANALYSIS", ""))), len(edus))))


def _edus(section: str) -> list[str]:
    """The EDUs by their numbers; a line without the next number continues the EDU before it."""
    texts: list[str] = []
    for line in filter(str.strip, _one_per_line(section).split("\n")):
        found = _EDU.match(line)
        if found and int(found[1]) == len(texts) + 1:
            texts.append(found[2])
        elif texts:
            texts[-1] += " " + line
        else:
            raise ValueError(f"The first EDU must be numbered [1]; it is {line[:60]!r}.")
    return texts


def _one_per_line(section: str) -> str:
    """A section on one line, with a line break before every EDU."""
    numbers = [int(number) for number in _INLINE.findall(section)]
    return section if "\n" in section or numbers != [*range(2, len(numbers) + 2)] else _INLINE.sub(r"\n[\1]", section)


def _analysis(section: str) -> Iterator[tuple[_Range, str]]:
    """Pairs of EDUs and the relation between them, from the lines that can be read; a range counts as its first EDU."""
    for line in section.split("\n"):
        found = _PAIR.search(line)
        words = re.findall("[A-Z]+", (line[found.end() :] + " " + line[: found.start()]).upper()) if found else []
        name = next((word for word in words if word in _NAMES), "")
        if found and name:
            yield (int(found[1]) - 1, int(found[3]) - 1), name


def _drawing(section: str, n: int) -> dict[_Range, Node]:
    """The nodes below the root by their EDUs, zero-based and half-open; an EDU's text may go over several lines."""
    sides: dict[_Range, Node] = {}
    nodes = list(_NODE.finditer(section))
    ends = [*(node.start() for node in nodes[1:]), len(section)]
    for node, end in zip(nodes, ends, strict=False):
        block = section[node.end() : end].split("\n\n", maxsplit=1)[0]  # a remark on the tree may follow
        span, role = (int(node[2]) - 1, int(node[3] or node[2])), node[1][0].upper()
        marked = [(mark.upper(), relation) for mark, relation in _ROLE.findall(block)]
        relations = [relation.upper() for mark, relation in marked if mark == role]  # the EDU's text may hold some too
        if marked and not relations:
            raise ValueError(
                f"EDUs {_name(*span)}: a NUCLEUS takes (N) and a SATELLITE (S), not {node[1]} ({marked[0][0]})."
            )
        if span in sides:
            raise ValueError(f"Two nodes cover EDUs {_name(*span)}.")
        sides[span] = Node(*span, role, relations[-1] if relations else "")
    sides.pop((0, n), None)  # the root
    return sides


def _name(start: int, end: int) -> str:
    return str(end) if end - start == 1 else f"{start + 1}-{end}"


def _splits(sides: Mapping[_Range, Node], named: Mapping[_Range, str], n: int) -> Iterator[tuple[_Range, Split]]:
    stack, drawn_below = [(0, n)], 0
    while stack:
        start, end = stack.pop()
        if end - start < 2:
            continue
        nodes = list(_parts(sides, start, end))
        drawn_below += len(nodes)
        for left, right in join_nodes(nodes, list(named)):
            yield (left.start, right.end), _split(left, right, named)
        stack += [(node.start, node.end) for node in nodes]
    if drawn_below != len(sides):
        odd = len(sides) - drawn_below
        raise ValueError(f"{odd} nodes cross others or cover nothing; every node must lie inside one other.")


def _parts(sides: Mapping[_Range, Node], start: int, end: int) -> Iterator[Node]:
    """The widest nodes inside some EDUs; together they must be all of these."""
    at = start
    while at < end:
        ends = [high for low, high in sides if low == at and high <= end and (low, high) != (start, end)]
        if not ends:
            raise ValueError(f"EDUs {_name(start, end)} must be cut into nodes that are drawn, side by side.")
        yield sides[at, max(ends)]
        at = max(ends)


def _split(left: Node, right: Node, named: Mapping[_Range, str]) -> Split:
    """A join with the relation that is drawn at the satellite, or at one of two nuclei; else the analysis has it."""
    across = (name for pair, name in named.items() if left.holds(min(pair)) and right.holds(max(pair)))
    drawn = [node.relation for node in (right, left) if node.role == "S" or "S" not in (left.role, right.role)]
    names = list(filter(None, (*drawn, *across)))
    known = next((name for name in names if name in _NAMES), None)
    if known is None:
        raise ValueError(
            f"EDUs {_name(left.start, right.end)}: {(names or [''])[0]!r} is none of the allowed relations."
        )
    nuclearity = _ROLES[left.role + right.role]
    return Split(start=left.start, mid=left.end, end=right.end, relation=Relation(known), nuclearity=nuclearity)


@dataclass(frozen=True)
class PaperParser:
    """Calls a language model once for each chunk (Disco-RAG section 3, "Intra-Chunk RST Tree", and fig. 10)."""

    model: LanguageModel
    template: Template
    limits: Limits

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def version(self) -> str:
        """Model and prompt."""
        return f"paper:{self.model.name}:{self.template.hash[:8]}"

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        """See `TreeParser.parse`. Raises as `LanguageModel.complete`."""
        prompt = self.template.render(relations=", ".join(PAPER_RELATIONS), chunk=fenced("chunk", chunk.text))
        request = Request(
            stage="parse",
            messages=(Message(role="user", content=prompt),),
            parse=lambda reply: read(reply, chunk.text, chunk.span.start),
            max_tokens=256 + 2 * len(chunk.text.encode()),  # a copy and its nodes take less than two tokens a byte
            temperature=self.limits.temperature,
            beam_width=self.limits.beam_width,
        )
        reply = await self.model.complete(request)
        return Outcome(value=reply.value, usage=reply.usage, prompt_hash=reply.prompt_hash)


def paper_parser(tools: Toolbox, limits: Limits) -> PaperParser:
    """The parser ``paper``. Raises as `Toolbox.require_model`."""
    return PaperParser(tools.require_model("parser"), tools.template("paper-tree"), limits)
