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

The paper names a relation for a satellite; where both sides are nuclei we write it behind the second. Its drawing has
all EDUs side by side below the root; ours is nested, which says more. Both are read (`discorag.discourse.parse.flat`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discorag.discourse.parse.flat import Node, joined
from discorag.discourse.parse.inline import escape
from discorag.discourse.parse.parser import Limits, ParsedTree, reply_tokens
from discorag.discourse.parse.prompted import aligned
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.models.toolbox import Toolbox
from discorag.schema.chunk import Chunk
from discorag.schema.rst_relations import PAPER_RELATIONS, Nuclearity, Relation
from discorag.schema.rst_tree import RstTree, Split, from_splits

_SECTIONS = re.compile(r"EDUs:\n(.*?)\nRST ANALYSIS:\n(.*?)^TREE STRUCTURE:\n(.*)", re.DOTALL | re.MULTILINE)
_EDU = re.compile(r"\[(\d+)\]\s*(.*)")
_ROOT = re.compile(r"ROOT\[(\d+)(?:-(\d+))?\]")
_NEXT_NODE = re.compile(r"\n(?=[\s|]*-+\s*(?:NUCLEUS|SATELLITE)\[)")
_NODE = re.compile(r"[\s|]*-+\s*(NUCLEUS|SATELLITE)\[(\d+)(?:-(\d+))?\].*?\(([NS])\)(?::\s*(\w+))?\s*$", re.DOTALL)
_PAIR = re.compile(r"RELATION\(EDU(\d+),\s*EDU(\d+)\):\s*(\w+)\s*$")
_NAMES = {r.value for r in PAPER_RELATIONS}

_Range = tuple[int, int]
_ROLES = {"NS": Nuclearity.NS, "SN": Nuclearity.SN, "NN": Nuclearity.NN}


@dataclass(frozen=True)
class _Side:
    """A line of the drawing: its role (N or S) and the relation it names, if any."""

    role: str
    relation: str


def drawn(chunk: Chunk) -> str:
    """The chunk's tree in the paper's notation, escaped; every EDU on one line. Empty where there is no tree."""
    tree = chunk.tree
    if tree is None:
        return ""
    texts = [" ".join(escape(chunk.slice(edu)).split()) for edu in tree.edus]
    edus = [f"[{i}] {text}" for i, text in enumerate(texts, start=1)]
    pairs = [_pair(tree, split) for split in tree.splits]
    lines = [f"ROOT[{_name(0, len(texts))}]" if len(texts) > 1 else "ROOT[1]", *_sides(tree, texts)]
    return "\n".join(["EDUs:", *edus, "RST ANALYSIS:", *pairs, "TREE STRUCTURE:", *lines])


def _pair(tree: RstTree, split: Split) -> str:
    """The relation between the heads of a split's sides, satellite first."""
    left, right = tree.head(split.start, split.mid) + 1, tree.head(split.mid, split.end) + 1
    first, second = (left, right) if split.nuclearity is Nuclearity.SN else (right, left)
    return f"RELATION(EDU{first}, EDU{second}): {split.relation}"


def _sides(tree: RstTree, texts: list[str]) -> Iterator[str]:
    """Both sides of every split, each below its parent, in text order."""
    stack = [(0, len(texts), 0, "")]
    while stack:
        start, end, depth, line = stack.pop()
        if line:
            yield line
        if end - start < 2:
            continue
        split = tree.split_at(start, end)
        sides = [(split.start, split.mid, split.nuclearity[0], ""), (split.mid, split.end, split.nuclearity[1], "N")]
        for low, high, role, named in reversed(sides):
            label = f": {split.relation}" if role == "S" or (named and split.nuclearity is Nuclearity.NN) else ""
            kind = "SATELLITE" if role == "S" else "NUCLEUS"
            text = f" {texts[low]}" if high - low == 1 else ""
            drawing = "|   " * depth + f"|--- {kind}[{_name(low, high)}]{text} ({role}){label}"
            stack.append((low, high, depth + 1, drawing))


def _name(start: int, end: int) -> str:
    return str(end) if end - start == 1 else f"{start + 1}-{end}"


def read(reply: str, text: str, *, offset: int) -> RstTree:
    """The tree over ``text``, in document offsets, that a reply in the paper's notation draws.

    Raises:
        ValueError: A section is missing, the EDUs are not exactly the text (white space apart), a relation is none of
            the 24, or the drawing is not one binary tree. The message tells the model what to change.
    """
    sections = _SECTIONS.match("\n".join(filter(None, map(str.strip, reply.split("\n")))))
    if sections is None:
        raise ValueError("Write the three parts 'EDUs:', 'RST ANALYSIS:' and 'TREE STRUCTURE:', each on its own line.")
    edus = aligned(list(_edus(sections[1])), text, offset=offset)
    sides = _drawing(sections[3], len(edus))
    return from_splits(edus, dict(_splits(sides, dict(_analysis(sections[2])), len(edus))))


def _edus(section: str) -> Iterator[str]:
    """The EDUs by their numbers; a line without a number goes on with the EDU before it."""
    texts: list[str] = []
    for line in filter(str.strip, section.split("\n")):
        found = _EDU.match(line.strip())
        if found and int(found[1]) == len(texts) + 1:
            texts.append(found[2])
        elif texts:
            texts[-1] += " " + line.strip()
        else:
            raise ValueError(f"The first EDU must be numbered [1]; it is {line[:60]!r}.")
    return iter(texts)


def _analysis(section: str) -> Iterator[tuple[_Range, str]]:
    for line in filter(str.strip, section.split("\n")):
        found = _PAIR.match(line.strip())
        if found is None:
            raise ValueError(f"Under RST ANALYSIS, {line[:60]!r} is not RELATION(EDUi, EDUj): TYPE.")
        yield (int(found[1]) - 1, int(found[2]) - 1), found[3]


def _drawing(section: str, n: int) -> dict[_Range, _Side]:
    """The nodes below the root by their EDUs, zero-based and half-open; an EDU's text may go over several lines."""
    root, *lines = _NEXT_NODE.split(section)
    found = _ROOT.match(root.strip())
    if found is None or (int(found[1]), int(found[2] or found[1])) != (1, n):
        raise ValueError(f"The drawing must start with ROOT[1-{n}]; it starts with {root[:60]!r}.")
    sides: dict[_Range, _Side] = {}
    for line in lines:
        node = _NODE.match(line)
        if node is None or node[1][0] != node[4]:
            raise ValueError(f"{line[:60]!r} is no NUCLEUS[a-b] ... (N) or SATELLITE[a-b] ... (S): TYPE.")
        span = (int(node[2]) - 1, int(node[3] or node[2]))
        if span in sides:
            raise ValueError(f"Two nodes cover EDUs {_name(*span)}.")
        sides[span] = _Side(node[4], node[5] or "")
    sides.pop((0, n), None)  # says what the root says
    return sides


def _splits(sides: Mapping[_Range, _Side], named: Mapping[_Range, str], n: int) -> Iterator[tuple[_Range, Split]]:
    stack, drawn_below = [(0, n)], 0
    while stack:
        start, end = stack.pop()
        if end - start < 2:
            continue
        nodes = list(_parts(sides, start, end))
        drawn_below += len(nodes)
        for left, right in joined(nodes, list(named)):
            yield (left.start, right.end), _split(left, right, named)
        stack += [(node.start, node.end) for node in nodes]
    if drawn_below != len(sides):
        odd = len(sides) - drawn_below
        raise ValueError(f"{odd} nodes cross others or cover nothing; every node must lie inside one other.")


def _parts(sides: Mapping[_Range, _Side], start: int, end: int) -> Iterator[Node]:
    """The widest nodes inside some EDUs; together they must be all of these."""
    at = start
    while at < end:
        ends = [high for low, high in sides if low == at and high <= end and (low, high) != (start, end)]
        if not ends:
            raise ValueError(f"EDUs {_name(start, end)} must be cut into nodes that are drawn, side by side.")
        side = sides[at, max(ends)]
        yield Node(at, max(ends), side.role, side.relation)
        at = max(ends)


def _split(left: Node, right: Node, named: Mapping[_Range, str]) -> Split:
    """A join; a satellite names its relation, of two nuclei one does, else what the analysis says of the two sides."""
    if "S" in (left.role, right.role):
        name = left.relation if left.role == "S" else right.relation
    else:
        pairs = ((sorted(pair), name) for pair, name in named.items())
        across = (name for (a, b), name in pairs if left.holds(a) and right.holds(b))
        name = right.relation or left.relation or next(across, "")
    if name not in _NAMES:
        raise ValueError(f"EDUs {_name(left.start, right.end)}: {name!r} is none of the allowed relations.")
    nuclearity = _ROLES[left.role + right.role]
    return Split(start=left.start, mid=left.end, end=right.end, relation=Relation(name), nuclearity=nuclearity)


def paper_parser(tools: Toolbox, limits: Limits) -> PaperParser:
    """For the registry. Raises `ConfigError` if no language model is configured."""
    return PaperParser(
        tools.require_model(),
        tools.template("paper-tree"),
        max_tokens=limits.max_tokens,
        temperature=limits.temperature,
        beam_width=limits.beam_width,
    )


class PaperParser:
    """A `TreeParser` as Disco-RAG prints it (fig. 10): one call a chunk, free text checked afterwards.

    Args:
        model: The language model.
        template: The prompt file ``paper-tree``.
        max_tokens: Output limit of a call. None: by the length of the text.
        temperature: Sampling temperature.
        beam_width: 3 in the paper.

    Example:
        >>> from discorag.discourse.parse.as_printed import PaperParser, drawn
        >>> short = sample_of("tides.md", ["The moon pulls the sea."]).chunks[0]
        >>> parser = PaperParser(says(drawn(short)), prompt("paper-tree"))
        >>> asyncio.run(parser.parse(short)).tree == short.tree
        True
    """

    def __init__(
        self,
        model: LanguageModel,
        template: Template,
        *,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        beam_width: int = 3,
    ) -> None:
        self._model = model
        self._template = template
        self._limits = (max_tokens, temperature, beam_width)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def version(self) -> str:
        """Model and prompt."""
        return f"paper:{self._model.name}:{self._template.hash[:8]}"

    async def parse(self, chunk: Chunk) -> ParsedTree:
        """The tree that the model draws.

        Raises:
            ModelError: The call failed, or the reply is no tree over the chunk's text even after one repair.
        """
        relations = ", ".join(PAPER_RELATIONS)
        max_tokens, temperature, beam_width = self._limits
        request = Request(
            stage="parse",
            messages=(
                Message(role="user", content=self._template.render(relations=relations, chunk=escape(chunk.text))),
            ),
            parse=lambda reply: read(reply, chunk.text, offset=chunk.span.start),
            max_tokens=max_tokens or reply_tokens(chunk.text),
            temperature=temperature,
            beam_width=beam_width,
        )
        reply = await self._model.complete(request)
        return ParsedTree(tree=reply.value, usage=reply.usage, prompt_hash=reply.prompt_hash)
