"""The one conversation in which a language model makes graph, plan and answer (DESIGN rule 6).

System text, evidence (each chunk once, its tree marked inline), then a turn per stage. Every call's messages extend
the last call's, so a server's prefix cache recomputes only what is new. The messages are rebuilt from the case, which
holds ids and the model's own words: nothing but the store keeps the texts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from discorag.answer.compression import GAP, shown_text
from discorag.models.protocol import Message, Template
from discorag.rst.inline import code_table, escape, mark
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import EDGE_RELATIONS
from discorag.types.graph import RhetoricalGraph


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The prompt files of the conversation.

    Example:
        >>> from discorag.prompted.conversation import messages_for
        >>> [message.role for message in messages_for("plan", case, templates, structured=True)]
        ['system', 'user']
    """

    system: Template
    evidence: Template
    instruction: Template
    graph: Template
    plan: Template
    answer: Template
    system_plain: Template
    answer_plain: Template


def evidence_block(case: Case) -> str:
    """All chunks, fenced and escaped, numbered from 1; `rst.inline.unmark` recovers the tree of one that is whole."""
    return "\n\n".join(_fenced(i, chunk) for i, chunk in enumerate(case.chunks, start=1))


def _fenced(number: int, chunk: Chunk) -> str:
    columns = " ".join(chunk.columns.split())  # of the table that the chunk goes on with
    where = " > ".join(dict.fromkeys(filter(None, (chunk.title, *chunk.headings, columns))))
    body = mark(chunk.text, chunk.tree, offset=chunk.span.start, gap=GAP) if chunk.tree else escape(shown_text(chunk))
    return f'<chunk id="{number}" source={quoteattr(where)}>\n{body}\n</chunk>'


def graph_json(case: Case, graph: RhetoricalGraph) -> str:
    """A graph in the form in which a model writes it: compact JSON, every source present."""
    rows: dict[str, list[dict[str, int | str]]] = {f"c{i}": [] for i in range(1, len(case.chunks) + 1)}
    for edge in graph.edges:
        row = {"to": case.number(edge.target), "rel": edge.relation.value}
        rows[f"c{case.number(edge.source)}"].append(row)
    return json.dumps(rows, separators=(",", ":"))


def messages_for(stage: str, case: Case, templates: Templates, *, structured: bool) -> tuple[Message, ...]:
    """The conversation up to the user's turn of ``stage`` (``graph``, ``plan`` or ``answer``).

    Args:
        stage: The turn to be answered.
        case: Its ``graph`` and ``plan``, if present, become earlier turns: verbatim where a model wrote them.
        templates: The prompt files.
        structured: False gives standard RAG: plain system text, one turn.
    """
    if not structured:
        return _plain(case, templates)
    turns: list[Message] = []
    if stage != "graph" and case.graph is not None:
        said = case.turns.get("graph") or graph_json(case, case.graph)
        turns += [_user(templates.graph.render()), Message(role="assistant", content=said)]
    if stage == "answer" and case.plan is not None:
        turns += [_user(templates.plan.render()), Message(role="assistant", content=case.plan.paragraph)]
    turns.append(_user({"graph": templates.graph, "plan": templates.plan, "answer": templates.answer}[stage].render()))
    relations = ", ".join(EDGE_RELATIONS)
    system = templates.system.render(codes=code_table(), relations=relations)
    return (Message(role="system", content=system), *_with_evidence(case, templates, turns))


def _plain(case: Case, templates: Templates) -> tuple[Message, ...]:
    turns = _with_evidence(case, templates, [_user(templates.answer_plain.render())])
    return (Message(role="system", content=templates.system_plain.render()), *turns)


def _with_evidence(case: Case, templates: Templates, turns: list[Message]) -> list[Message]:
    evidence = templates.evidence.render(chunks=evidence_block(case), query=escape(case.query))
    if case.instruction:
        evidence += "\n\n" + templates.instruction.render(instruction=escape(case.instruction))
    return [_user(f"{evidence}\n\n{turns[0].content}"), *turns[1:]]


def _user(text: str) -> Message:
    return Message(role="user", content=text)
