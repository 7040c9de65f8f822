"""generate with a language model: prose over a plan and the passages that it cites, or over the passages alone."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial

from discorag.answering.passages import fenced, passage_blocks
from discorag.answering.reader import ReaderModel, outcome_of, question_block
from discorag.answering.replies import normal_citations, prose_of, without_thinking
from discorag.answering.statements import Collected
from discorag.models.protocol import Reply
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import ContextTooLongError, InvalidOutputError
from discorag.schema.ledger import Failure
from discorag.schema.statements import PlanStep, StatementGraph, StatementRelationKind
from discorag.text.citations import references, without_references, without_unknown
from discorag.text.replies import whole_sentences

STAGE = "generate"
_READING = (
    " The word in round brackets is what a step or quotation does for the question: answers it, opposes an answer "
    "that the other facts favour, restricts an answer, backs it, or is about a namesake of what is asked about."
)
_RELATIONS = {
    StatementRelationKind.CONTRADICTS: "contradicts {}",
    StatementRelationKind.LIMITS: "limits {}",
    StatementRelationKind.SUPPORTS: "supports {}",
    StatementRelationKind.ANOTHER: "is about another thing of the same name than {}",
    StatementRelationKind.CAUSES: "is the cause of {}",
    StatementRelationKind.REPLACES: "is newer than {} and replaces it",
    StatementRelationKind.EXEMPLIFIES: "is an example of {}",
}
_OPENING = re.compile(r"\s*<(?:t|th|thi|thin|think(?:ing)?|r|re|reasoning)?>?", re.IGNORECASE)
_LABEL = re.compile(r"\A[\s*_#]*(?:the |my )?(?:final )?answer[\s*_]*:[\s*_]*", re.IGNORECASE)


async def write_answer(
    inputs: AnswerInputs, collected: Collected, reader: ReaderModel
) -> AsyncIterator[str | Outcome[str]]:
    """Pieces of the answer that carries out the plan, and at last the whole checked answer.

    The model reads the plan, the words on which it rests, and the passages that it cites. Roles and relations are
    shown where sources conflict or share a name. A plan without steps is answered from all passages.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    if not collected.plan.steps:
        async for piece in answer_plainly(inputs, reader):
            yield piece
        return
    graph = collected.graph
    cited = dict.fromkeys(p for n in collected.plan.numbers for p in graph.by_number[n].passages)
    prompt, failures = await _fitting(inputs, reader, list(cited), partial(_planned, inputs, collected, reader))
    async for piece in _stream(inputs, reader, prompt, failures):
        yield piece


async def answer_plainly(inputs: AnswerInputs, reader: ReaderModel) -> AsyncIterator[str | Outcome[str]]:
    """Pieces of an answer from the passages by the rules for the reader, in one call; at last the whole answer.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    every = list(range(1, len(inputs.chunks) + 1))
    prompt, failures = await _fitting(inputs, reader, every, partial(_plain, inputs, reader))
    async for piece in _stream(inputs, reader, prompt, failures):
        yield piece


def _plain(inputs: AnswerInputs, reader: ReaderModel, numbers: Sequence[int]) -> str:
    return reader.prompt("answer-passages").render(
        question=question_block(inputs),
        passages=_passages(inputs, numbers),
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _planned(inputs: AnswerInputs, collected: Collected, reader: ReaderModel, numbers: Sequence[int]) -> str:
    graph = collected.graph
    missing = f"No passage says:\n{fenced('missing', graph.missing)}\n" if graph.missing else ""
    return reader.prompt("answer-statements").render(
        question=question_block(inputs),
        passages=_passages(inputs, numbers),
        plan=fenced("plan", plan_block(collected)),
        reading=_READING if graph.has_conflict else "",
        missing=missing,
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _passages(inputs: AnswerInputs, numbers: Sequence[int]) -> str:
    shown = sorted(numbers)
    return "\n\n".join(passage_blocks([inputs.chunks[n - 1] for n in shown], shown)) if shown else "(none)"


def plan_block(collected: Collected) -> str:
    """The plan with the words on which it rests; with roles and relations where sources conflict or share a name."""
    graph, lines = collected.graph, list[str]()
    for at, step in enumerate(collected.plan.steps, start=1):
        role = f"({step.role}) " if graph.has_conflict else ""
        lines += [f"{at}. {role}{step.text}", *_quoted(step, graph)]
        if graph.has_conflict:
            lines += _related(step, collected)
    return "\n".join(lines)


def _quoted(step: PlanStep, graph: StatementGraph) -> list[str]:
    """A line for each quotation, with the role of its statement where that is not the step's."""
    lines = list[str]()
    for statement in (graph.by_number[n] for n in step.statements):
        role = f"({statement.role}) " if graph.has_conflict and statement.role is not step.role else ""
        lines += [f"   {role}[{q.passage}] “{' '.join(q.text.split())}”" for q in statement.quotations]
    return lines


def _related(step: PlanStep, collected: Collected) -> list[str]:
    """A line for each relation of the step's statements to others of the plan, which it names by their passages."""
    told, lines = collected.plan.numbers, list[str]()
    for r in collected.graph.relations:
        if r.source in step.statements and r.target in told:
            source, target = (_cited(collected.graph, n) for n in (r.source, r.target))
            about = f" ({r.about})" if r.about else ""
            lines.append(f"   {source} {_RELATIONS[r.relation].format(target)}{about}")
    return lines


def _cited(graph: StatementGraph, number: int) -> str:
    return "".join(f"[{p}]" for p in graph.by_number[number].passages)


# --- calling --------------------------------------------------------------------------------------


async def _fitting(
    inputs: AnswerInputs, reader: ReaderModel, numbers: list[int], prompt: Callable[[Sequence[int]], str]
) -> tuple[str, tuple[Failure, ...]]:
    """The prompt over the first of these passages that fit the context, and a failure if some do not."""
    room = await reader.room(prompt([]), await reader.answer_limit())
    sizes = reader.count(passage_blocks([inputs.chunks[n - 1] for n in numbers], numbers))
    k = len(numbers)
    while k and sum(sizes[:k]) > room:
        k -= 1
    if k == len(numbers):
        return prompt(numbers), ()
    context = await reader.model.context_tokens()
    error = ContextTooLongError(f"A context of {context} tokens holds {k} of {len(numbers)} passages next to the plan.")
    return prompt(numbers[:k]), (Failure.of(STAGE, error, fallback=f"{k} passages"),)


async def _stream(
    inputs: AnswerInputs, reader: ReaderModel, prompt: str, failures: tuple[Failure, ...]
) -> AsyncIterator[str | Outcome[str]]:
    request = reader.request(STAGE, prompt, partial(read_answer, inputs=inputs), await reader.answer_limit())
    request = replace(request, cut=whole_sentences, beam_width=reader.beam_width)
    shown = ShownText()
    async for piece in reader.model.stream(request):
        if isinstance(piece, Reply):
            if rest := shown.rest():
                yield rest
            outcome = outcome_of(STAGE, piece)
            yield replace(outcome, failures=(*failures, *outcome.failures, *_wrong_citations(piece.text, inputs)))
        elif text := shown.push(piece):
            yield text


class ShownText:
    """The pieces of a streamed answer without the thinking before it."""

    def __init__(self) -> None:
        self._held, self._is_open = "", True

    def push(self, piece: str) -> str:
        """What can be shown once ``piece`` has come."""
        if not self._is_open:
            return piece
        self._held += piece
        if _OPENING.fullmatch(self._held) or not self._held.strip() or self._is_wrapped():
            return ""
        self._is_open = False
        return without_thinking(self._held) + self._held[len(self._held.rstrip()) :]

    def rest(self) -> str:
        """What was held back, at the end."""
        return prose_of(self._held) if self._is_open else ""

    def _is_wrapped(self) -> bool:
        """Whether the text is inside thinking, a block of code or JSON."""
        begun = self._held.lstrip().lower()
        if begun.startswith(("<think", "<reasoning")):
            begun = without_thinking(self._held)
        return not begun or begun.startswith(("{", "`"))


def read_answer(text: str, inputs: AnswerInputs) -> str:
    """The answer in a reply: without thinking and label, its citations as ``[1]``, none of an unknown passage.

    Raises:
        ValueError: It says nothing.
    """
    passages = [chunk.text for chunk in inputs.chunks]
    answer = normal_citations(_LABEL.sub("", prose_of(text)), len(passages))
    answer = without_unknown(answer, passages).strip()
    if not any(c.isalnum() for c in without_references(answer, chunks=len(passages))):
        raise ValueError("The output says nothing.")
    return answer


def _wrong_citations(text: str, inputs: AnswerInputs) -> list[Failure]:
    known = len(inputs.chunks)
    unknown = sorted({r.chunk for r in references(without_thinking(text)) if r.chunk > known})
    error = InvalidOutputError(f"The answer cites {unknown[:5]}; there are {known} passages.")
    return [Failure.of(STAGE, error, fallback="the answer without these citations")] if unknown else []
