"""The statements of an answer that quotes its sources: each sentence is one, and the graph over chunks relates them."""

from collections.abc import Iterator, Sequence

from discorag.schema.answer import Answer, AnswerInputs, AnswerSentence
from discorag.schema.discourse import ChunkRelation, Edge, Plan
from discorag.schema.statements import (
    Quotation,
    Statement,
    StatementGraph,
    StatementRelation,
    StatementRelationKind,
)
from discorag.schema.values import Span

_RELATIONS = {
    ChunkRelation.CONTRADICTS: StatementRelationKind.CONTRADICTS,
    ChunkRelation.REPLACES: StatementRelationKind.REPLACES,
    ChunkRelation.SUPPORTS: StatementRelationKind.SUPPORTS,
    ChunkRelation.CAUSES: StatementRelationKind.CAUSES,
    ChunkRelation.EXEMPLIFIES: StatementRelationKind.EXEMPLIFIES,
}
"""The relations between chunks that hold between their sentences too."""


def with_extracted_statements(answer: Answer, inputs: AnswerInputs) -> Answer:
    """The answer, each quoted sentence of which is a statement; these are in its plan, and the graph relates them."""
    quoted = [(at, q) for at, sentence in enumerate(answer.sentences) if (q := tuple(_quotations(sentence, inputs)))]
    if not quoted:
        return answer
    statements = [
        Statement(number=number, says=answer.sentences[at].text, quotations=quotations)
        for number, (at, quotations) in enumerate(quoted, start=1)
    ]
    numbers = {at: (number,) for number, (at, _) in enumerate(quoted, start=1)}
    sentences = [s.model_copy(update={"statements": numbers.get(at, ())}) for at, s in enumerate(answer.sentences)]
    graph = StatementGraph(statements=tuple(statements), relations=_relations(statements, inputs))
    plan = _with_statements(answer.plan, sentences) if answer.plan else None
    return answer.model_copy(update={"sentences": tuple(sentences), "statements": graph, "plan": plan})


def _quotations(sentence: AnswerSentence, inputs: AnswerInputs) -> Iterator[Quotation]:
    """The words that a supported sentence quotes, without the headings that they are quoted with.

    Words below a summary are in no passage of the question.
    """
    numbers = {chunk.id: number for number, chunk in enumerate(inputs.chunks, start=1)}
    for e in sentence.evidence if sentence.supported else ():
        if not e.is_context and (number := numbers.get(e.chunk_id)):
            yield Quotation(passage=number, chunk_id=e.chunk_id, text=e.text, spans=(e.span,), title=e.title)


def _relations(statements: Sequence[Statement], inputs: AnswerInputs) -> tuple[StatementRelation, ...]:
    """The relations between chunks that rest on sentences of which both are statements."""
    found: dict[tuple[int, int], StatementRelation] = {}
    for edge in inputs.graph.edges if inputs.graph else ():
        relation = _RELATIONS.get(edge.relation)
        source, target = (_statement_at(statements, *end) for end in _ends(edge))
        if relation and source and target and source != target:
            related = StatementRelation(source=source, relation=relation, target=target, about=edge.reason)
            found.setdefault((source, target), related)
    return tuple(found.values())


def _ends(edge: Edge) -> tuple[tuple[str, Span | None], tuple[str, Span | None]]:
    return (edge.source, edge.source_span), (edge.target, edge.target_span)


def _statement_at(statements: Sequence[Statement], chunk_id: str, span: Span | None) -> int | None:
    """The number of the statement that quotes the beginning of these characters of a chunk."""
    if span is None:
        return None
    quoted = ((s.number, q, own) for s in statements for q in s.quotations for own in q.spans)
    return next((n for n, q, own in quoted if q.chunk_id == chunk_id and own.start <= span.start < own.end), None)


def _with_statements(plan: Plan, sentences: Sequence[AnswerSentence]) -> Plan:
    """The plan whose steps name the statements of the sentences that carry them out."""
    steps = [
        step.model_copy(update={"statements": tuple(n for s in sentences if s.step == at for n in s.statements)})
        for at, step in enumerate(plan.steps)
    ]
    return plan.model_copy(update={"steps": tuple(steps)})
