"""The one conversation in which a language model makes graph, plan and answer (DESIGN rule 6).

System text, evidence (each chunk once, with its tree as the layout shows it), then a turn per stage. Every call's
messages extend the last call's, so a server's prefix cache recomputes only what is new. The messages are rebuilt from
the case, which holds ids and the model's own words: nothing but the store keeps the texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from discorag.discourse.parse.inline import code_table, escape
from discorag.discourse.parse.layouts import Layout, laid_out
from discorag.generation.compression import GAP, shown_text
from discorag.generation.prompted.graph import graph_json
from discorag.models.protocol import Message, Template
from discorag.schema.answer_inputs import AnswerInputs
from discorag.schema.chunk import Chunk
from discorag.schema.chunk_relations import EDGE_RELATIONS


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The prompt files of the conversation.

    Example:
        >>> from discorag.generation.prompted.conversation import messages_for
        >>> [message.role for message in messages_for("plan", inputs, templates, structured=True)]
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
    own_words: Template
    read_inline: Template
    read_indented: Template
    read_plain: Template

    def reading(self, layout: Layout) -> str:
        """How a layout is to be read."""
        if layout == "inline":
            return self.read_inline.render(codes=code_table())
        return (self.read_indented if layout == "indented" else self.read_plain).render()


def evidence_block(inputs: AnswerInputs, layout: Layout = "inline") -> str:
    """All chunks, fenced and escaped, numbered from 1; `rst.inline.unmark` recovers the inline tree of a whole one."""
    return "\n\n".join(_fenced(i, chunk, layout) for i, chunk in enumerate(inputs.chunks, start=1))


def _fenced(number: int, chunk: Chunk, layout: Layout) -> str:
    columns = " ".join(chunk.columns.split())  # of the table that the chunk goes on with
    where = " > ".join(dict.fromkeys(filter(None, (chunk.title, *chunk.headings, columns))))
    body = laid_out(chunk, layout, gap=GAP) if chunk.tree else escape(shown_text(chunk))
    return f'<chunk id="{number}" source={quoteattr(where)}>\n{body}\n</chunk>'


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
        return _plain(inputs, templates)
    turns: list[Message] = []
    if stage != "graph" and inputs.graph is not None:
        said = inputs.turns.get("graph") or graph_json(inputs, inputs.graph)
        turns += [_user(templates.graph.render()), Message(role="assistant", content=said)]
    if stage == "answer" and inputs.plan is not None:
        turns += [_user(templates.plan.render()), Message(role="assistant", content=inputs.plan.paragraph)]
    turns.append(_user({"graph": templates.graph, "plan": templates.plan, "answer": templates.answer}[stage].render()))
    return conversation(inputs, templates, turns, layout)


def conversation(
    inputs: AnswerInputs, templates: Templates, turns: list[Message], layout: Layout
) -> tuple[Message, ...]:
    """System text and evidence before ``turns``, the first of which is the user's."""
    relations = ", ".join(EDGE_RELATIONS)
    system = templates.system.render(reading=templates.reading(layout), relations=relations)
    return (Message(role="system", content=system), *_with_evidence(inputs, templates, turns, layout))


def _plain(inputs: AnswerInputs, templates: Templates) -> tuple[Message, ...]:
    turns = _with_evidence(inputs, templates, [_user(templates.answer_plain.render())], "plain")
    return (Message(role="system", content=templates.system_plain.render()), *turns)


def _with_evidence(inputs: AnswerInputs, templates: Templates, turns: list[Message], layout: Layout) -> list[Message]:
    evidence = templates.evidence.render(chunks=evidence_block(inputs, layout), query=escape(inputs.query))
    if inputs.instruction:
        evidence += "\n\n" + templates.instruction.render(instruction=escape(inputs.instruction))
    return [_user(f"{evidence}\n\n{turns[0].content}"), *turns[1:]]


def _user(text: str) -> Message:
    return Message(role="user", content=text)
