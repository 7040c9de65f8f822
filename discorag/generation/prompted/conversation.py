"""The one conversation in which a language model makes graph, plan and answer (DESIGN rule 6).

System text, evidence (each chunk once, with its tree as the layout shows it), then a turn per stage. Every call's
messages extend the last call's, so a server's prefix cache recomputes only what is new. The messages are rebuilt from
the inputs, which hold ids and the model's own words: only the store holds the texts.

The graph is JSON, ``{"c1":{"2":"SUPPORTS"},"c2":{}}``: for every passage, its relation to others. Targets are keys, so
a grammar cannot write one twice (vLLM refuses ``uniqueItems``), and every row is bounded.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast
from xml.sax.saxutils import quoteattr

from pydantic import TypeAdapter, ValidationError

from discorag.discourse.parse.inline import Layout, escape, mark
from discorag.generation.narrowing import GAP, shown_text
from discorag.models.protocol import Message, Template
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import EDGE_RELATIONS, ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk

_NAMES = tuple(r.value for r in EDGE_RELATIONS)
_ROWS: TypeAdapter[dict[str, dict[int, str]]] = TypeAdapter(
    cast("Any", dict[str, dict[int, cast("Any", Literal[_NAMES])]])
)


@cache
def graph_schema(k: int) -> dict[str, Any]:
    """The output schema for ``k`` chunks: every source is required, so that an omission is not taken for UNRELATED."""
    sources = range(1, k + 1)
    return {
        "type": "object",
        "properties": {f"c{i}": _row([j for j in sources if j != i]) for i in sources},
        "required": [f"c{i}" for i in sources],
        "additionalProperties": False,
        "$defs": {"relation": {"enum": list(_NAMES)}},
    }


def _row(targets: list[int]) -> dict[str, Any]:
    links = {str(j): {"$ref": "#/$defs/relation"} for j in targets}
    return {"type": "object", "properties": links, "additionalProperties": False}


def graph_json(inputs: AnswerInputs, graph: RhetoricalGraph) -> str:
    """A graph in this form: compact JSON, every source present."""
    rows: dict[str, dict[str, str]] = {f"c{i}": {} for i in range(1, len(inputs.chunks) + 1)}
    for edge in graph.edges:
        rows[f"c{inputs.number(edge.source)}"][str(inputs.number(edge.target))] = edge.relation.value
    return json.dumps(rows, separators=(",", ":"))


def graph_of(inputs: AnswerInputs, text: str) -> RhetoricalGraph:
    """The graph that a model wrote.

    Raises:
        ValueError: Bad JSON, a missing source, an unknown label or target, a loop or a repeated pair. The message tells
            the model what to change.
    """
    ids = [c.id for c in inputs.chunks]
    rows = _rows(text)
    if wrong := sorted(rows.keys() ^ {f"c{i}" for i in range(1, len(ids) + 1)}):
        raise ValueError(f"Name every passage from c1 to c{len(ids)} once; missing or unknown: {', '.join(wrong[:5])}.")
    if unknown := {to for row in rows.values() for to in row} - set(range(1, len(ids) + 1)):
        raise ValueError(f"There are passages 1 to {len(ids)}, but not {sorted(unknown)[:5]}.")
    edges = tuple(
        Edge(source=ids[i], target=ids[to - 1], relation=ChunkRelation(name))
        for i in range(len(ids))
        for to, name in rows[f"c{i + 1}"].items()
    )
    return RhetoricalGraph(chunks=tuple(ids), edges=edges)


def _rows(text: str) -> dict[str, dict[int, str]]:
    try:
        return _ROWS.validate_python(json.loads(text, object_pairs_hook=_each_once))
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
        raise ValueError("The reply is not of the requested form. " + "; ".join(problems)) from error


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"A passage comes twice among {[name for name, _ in pairs][:10]}.")
    return found


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The prompt files of the conversation."""

    system: Template
    evidence: Template
    instruction: Template
    graph: Template
    plan: Template
    answer: Template
    system_plain: Template
    answer_plain: Template
    own_words: Template
    read_inline: Template
    read_plain: Template

    def reading(self, layout: Layout) -> str:
        """The text that explains to a model how to read a layout."""
        return (self.read_inline if layout == "inline" else self.read_plain).render()

    def instructions(self, layout: Layout) -> list[str]:
        """All texts of ours that a model may have read when it answers."""
        turns = (self.graph, self.plan, self.answer, self.system_plain, self.answer_plain, self.own_words)
        with_variables = (self.system.render(reading=self.reading(layout)), self.instruction.render(instruction=""))
        return [*with_variables, *(turn.render() for turn in turns)]


def evidence_block(inputs: AnswerInputs, layout: Layout = "inline") -> str:
    """All chunks, fenced, escaped and numbered from 1."""
    return "\n\n".join(_fence(i, chunk, layout) for i, chunk in enumerate(inputs.chunks, start=1))


def _fence(number: int, chunk: Chunk, layout: Layout) -> str:
    columns = " ".join(chunk.columns.split())  # of the table that the chunk continues
    where = " > ".join(dict.fromkeys(filter(None, (chunk.title, *chunk.headings, columns))))
    return f'<chunk id="{number}" source={quoteattr(where)}>\n{chunk_text(chunk, layout)}\n</chunk>'


def chunk_text(chunk: Chunk, layout: Layout) -> str:
    """The text of a chunk, escaped, with gaps where it was narrowed; with its tree if the layout shows trees."""
    if chunk.tree and layout == "inline":
        return mark(chunk.text, chunk.tree, offset=chunk.span.start, gap=GAP)
    return escape(shown_text(chunk))


def messages_for(
    stage: str, inputs: AnswerInputs, templates: Templates, *, structured: bool, layout: Layout = "inline"
) -> tuple[Message, ...]:
    """The conversation up to the user's turn of ``stage`` (``graph``, ``plan`` or ``answer``).

    Args:
        stage: The turn to be answered.
        inputs: Its ``graph`` and ``plan``, if present, become earlier turns: verbatim where a model wrote them.
        templates: The prompt files.
        structured: False gives standard RAG: plain system text, one turn.
        layout: How trees are shown.
    """
    if not structured:
        plain = _with_evidence(inputs, templates, [_user(templates.answer_plain.render())], "plain")
        return (Message(role="system", content=templates.system_plain.render()), *plain)
    turns: list[Message] = []
    if stage != "graph" and inputs.graph is not None:
        graph = inputs.turns.get("graph") or graph_json(inputs, inputs.graph)
        turns += [_user(templates.graph.render()), Message(role="assistant", content=graph)]
    if stage == "answer" and inputs.plan is not None:
        turns += [_user(templates.plan.render()), Message(role="assistant", content=inputs.plan.paragraph)]
    turns.append(_user({"graph": templates.graph, "plan": templates.plan, "answer": templates.answer}[stage].render()))
    return conversation(inputs, templates, turns, layout)


def conversation(
    inputs: AnswerInputs, templates: Templates, turns: list[Message], layout: Layout
) -> tuple[Message, ...]:
    """System text and evidence before ``turns``, the first of which is the user's."""
    system = templates.system.render(reading=templates.reading(layout))
    return (Message(role="system", content=system), *_with_evidence(inputs, templates, turns, layout))


def _with_evidence(inputs: AnswerInputs, templates: Templates, turns: list[Message], layout: Layout) -> list[Message]:
    evidence = templates.evidence.render(chunks=evidence_block(inputs, layout), query=escape(inputs.query))
    if inputs.instruction:
        evidence += "\n\n" + templates.instruction.render(instruction=escape(inputs.instruction))
    return [_user(f"{evidence}\n\n{turns[0].content}"), *turns[1:]]


def _user(text: str) -> Message:
    return Message(role="user", content=text)
