"""The prompted parser: a language model segments the text and joins its EDUs; the reply is aligned with the text.

Source: Disco-RAG section 3, "Intra-Chunk RST Tree", and fig. 10. Where the paper asks for an indented drawing of the
tree, this asks for its nodes as JSON, which a server can enforce and a program can check.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discorag.discourse.parse.inline import escape, unescape
from discorag.discourse.parse.parser import Limits, reply_tokens
from discorag.models.protocol import LanguageModel, Message, Request, Template, schema_message
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import Outcome
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.values import Span

SHORTEST = 6
"""Least bytes of an EDU on average (two Chinese characters): this limits the number of EDUs in a reply."""
LIKENESS = 0.8
"""Share of its letters and digits that an EDU and a model's copy of it must have in common."""
_QUOTE = 60  # characters of a text that an error message shows

_Range = Annotated[list[int], Field(min_length=2, max_length=2)]
_Constituent = tuple[int, int]


class TreeNode(BaseModel):
    """An inner node as the model writes it: inclusive, one-based ranges of EDU numbers."""

    model_config = ConfigDict(extra="forbid")

    left: _Range
    right: _Range
    relation: Relation
    nuclearity: Nuclearity


class TreeReply(BaseModel):
    """The model's whole reply: EDUs in text order, and the n - 1 nodes over them in any order."""

    model_config = ConfigDict(extra="forbid")

    edus: list[str]
    nodes: list[TreeNode]


@dataclass(frozen=True)
class PromptedParser:
    """A `TreeParser` that calls a language model once for each chunk.

    Args:
        kind: The beginning of its version.
        template: The prompt, with the variables ``relations`` (their names) and ``chunk``.
        read: The tree in a reply over a text that starts at an offset of its document; raises ``ValueError`` with a
            message that tells the model what to change.
        schema: The schema of replies over a text, if they are JSON.
    """

    kind: str
    model: LanguageModel
    template: Template
    relations: Iterable[str]
    read: Callable[[str, str, int], RstTree]
    limits: Limits
    schema: Callable[[str], dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def version(self) -> str:
        """Model and prompt."""
        return f"{self.kind}:{self.model.name}:{self.template.hash[:8]}"

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        """The tree that the model gives to ``chunk``.

        Raises:
            ModelError: The call failed, or the reply is not a tree over the chunk's text even after one repair.
        """
        prompt = self.template.render(relations=", ".join(self.relations), chunk=escape(chunk.text))
        request = Request(
            stage="parse",
            messages=(Message(role="user", content=prompt),),
            parse=lambda reply: self.read(reply, chunk.text, chunk.span.start),
            schema=self.schema(chunk.text) if self.schema else None,
            max_tokens=reply_tokens(chunk.text),
            temperature=self.limits.temperature,
            beam_width=self.limits.beam_width,
        )
        reply = await self.model.complete(request)
        return Outcome(value=reply.value, usage=reply.usage, prompt_hash=reply.prompt_hash)


def llm_parser(tools: Toolbox, limits: Limits) -> PromptedParser:
    """The parser ``llm``. Raises `ConfigError` if no language model is configured."""
    model, template = tools.require_model("parser"), tools.template("tree")
    return PromptedParser(
        "llm", model, template, Relation, tree_from_reply, replace(limits, beam_width=1), reply_schema
    )


def reply_schema(text: str) -> dict[str, Any]:
    """The schema of `TreeReply` with bounded lists: a weak model would otherwise go on to its limit."""
    schema = TreeReply.model_json_schema()
    most = max(1, len(text.encode()) // SHORTEST)
    schema["properties"]["edus"] |= {"minItems": 1, "maxItems": most}
    schema["properties"]["nodes"] |= {"maxItems": most - 1}
    return schema


def tree_from_reply(reply: str, text: str, offset: int) -> RstTree:
    """The tree over ``text``, in document offsets, that a model's JSON reply describes.

    Raises:
        ValueError: It is not JSON of this schema, its EDUs are not exactly the text (white space apart), or its nodes
            are not one binary tree. The message tells the model what to change.
    """
    try:
        value = TreeReply.model_validate_json(reply)
    except ValidationError as error:
        raise ValueError(schema_message(error)) from error
    edus = align_edus(value.edus, text, offset=offset)
    return from_splits(edus, _splits(value.nodes, len(edus)))


def align_edus(edus: Sequence[str], text: str, *, offset: int) -> tuple[Span, ...]:
    """The spans of the EDUs that a model copied, in document offsets, if ``text`` starts at ``offset``.

    They hold all of the text but white space. Copies are aligned with the text, so small slips do no harm: quotes that
    were straightened, a dropped full stop or heading mark, a typing error. Raises ``ValueError`` if a copy and its
    place in the text differ in too many letters and digits.
    """
    if not edus:
        raise ValueError("There are no EDUs. Copy the whole text into them, word for word.")
    where = [i for i, char in enumerate(text) if not char.isspace()]
    copies = ["".join(edu.split()) for edu in _unescape(edus, text)]
    starts = list(accumulate(map(len, copies), initial=0))
    matches = _matches("".join(copies), "".join(text.split()))
    cuts = [0, *(_cut(matches, start, where) for start in starts[1:-1]), len(where)]
    spans: list[Span] = []
    for number, (copy, (first, end)) in enumerate(zip(copies, pairwise(cuts), strict=True), start=1):
        source = text[where[first] : where[end - 1] + 1] if first < end else ""
        if not source or _likeness(copy, source) < LIKENESS:
            raise ValueError(
                f"EDU {number} is {_quote(edus[number - 1])} where the text has {_quote(source)}. "
                "Copy the text word for word and in its order; leave nothing out, add nothing, repeat nothing."
            )
        spans.append(Span(start=where[first] + offset, end=where[end - 1] + 1 + offset))
    return tuple(spans)


def _unescape(edus: Sequence[str], text: str) -> Sequence[str]:
    """EDUs as they stand in ``text``: copied from the prompt they are escaped, unless they are just as long as it."""
    return edus if _length("".join(edus)) == _length(text) else [unescape(edu) for edu in edus]


def _length(text: str) -> int:
    return sum(map(len, text.split()))


def _likeness(copy: str, source: str) -> float:
    """Share of their letters and digits that both have in the same order."""
    a, b = ("".join(filter(str.isalnum, text)) for text in (copy, source))
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _matches(copy: str, text: str) -> list[int | None]:
    """For every character of the copy, its index in the text; None if it was added."""
    if copy == text:
        return list(range(len(text)))
    matches: list[int | None] = [None] * len(copy)
    for at, there, size in SequenceMatcher(None, copy, text, autojunk=False).get_matching_blocks():
        matches[at : at + size] = range(there, there + size)
    return matches


def _cut(matches: Sequence[int | None], start: int, where: Sequence[int]) -> int:
    """Where the EDU whose copy starts at ``start`` begins.

    If the copy skips characters there, those up to the first white space belong to the previous EDU.
    """
    before = next((at + 1 for at in reversed(matches[:start]) if at is not None), 0)
    after = next((at for at in matches[start:] if at is not None), len(where))
    spaced = (at for at in range(max(before, 1), after) if where[at] > where[at - 1] + 1)
    return next(spaced, after)


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTE else text[:_QUOTE] + "...")


def _splits(nodes: Sequence[TreeNode], n: int) -> dict[_Constituent, Split]:
    """The nodes as splits, each over EDUs of its own."""
    if len(nodes) != n - 1:
        raise ValueError(f"{n} EDUs take exactly {n - 1} nodes; there are {len(nodes)}.")
    splits: dict[_Constituent, Split] = {}
    for number, node in enumerate(nodes, start=1):
        split = _split(number, node, n)
        if (split.start, split.end) in splits:
            raise ValueError(f"Node {number}: another node already joins EDUs {split.start + 1} to {split.end}.")
        splits[split.start, split.end] = split
    return splits


def _split(number: int, node: TreeNode, n: int) -> Split:
    (a, b), (c, d) = node.left, node.right
    if not 1 <= a <= b < c <= d <= n:
        raise ValueError(
            f"Node {number}: left {node.left} and right {node.right} are not ranges of EDUs 1 to {n} in order."
        )
    if c != b + 1:
        raise ValueError(f"Node {number}: right must start at EDU {b + 1}, where left ends; it starts at EDU {c}.")
    if node.relation is Relation.JOINT and node.nuclearity is not Nuclearity.NN:
        raise ValueError(f"Node {number}: JOINT joins two nuclei; its nuclearity is NN, not {node.nuclearity}.")
    return Split(start=a - 1, mid=b, end=d, relation=node.relation, nuclearity=node.nuclearity)
