"""generate with a language model: prose over a plan and the passages that it cites, or over the passages alone."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from discorag.answering.passages import passage_blocks
from discorag.answering.plans import READING, has_roles, plan_block
from discorag.answering.reader import ReaderModel, question_block
from discorag.answering.shown import Shown
from discorag.answering.statements import Collected
from discorag.generation.prompted.prose import outcome_of
from discorag.models.protocol import Reply
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import ContextTooLongError, InvalidOutputError
from discorag.schema.ledger import Failure
from discorag.schema.statements import StatementRole
from discorag.text.citation_forms import cited_in_brackets
from discorag.text.citations import (
    format_reference,
    references,
    unknown_passages,
    without_references,
    without_unknown,
)
from discorag.text.fences import fenced
from discorag.text.replies import prose_in, whole_sentences, without_fences
from discorag.text.sources import source_name

STAGE = "generate"
_LABEL = re.compile(
    r"\A[\s*_#]*(?:(?:here is|here's|now) )?(?:the |my )?(?:final )?answer(?: to the question)?[\s*_]*:[\s*_]*",
    re.IGNORECASE,
)


def write_answer(inputs: AnswerInputs, collected: Collected, reader: ReaderModel) -> AsyncIterator[str | Outcome[str]]:
    """Pieces of the answer that carries out the plan, and at last the whole checked answer.

    The model reads the plan, the words on which it rests, and passages that it cites. Relations are shown where
    sources conflict or share a name. A plan without steps is answered from all passages.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    if not collected.plan.steps:
        return answer_plainly(inputs, reader)
    return _write(inputs, reader, _needed_passages(collected), partial(_planned, inputs, collected, reader))


def write_by_text(inputs: AnswerInputs, plan: str, reader: ReaderModel) -> AsyncIterator[str | Outcome[str]]:
    """Pieces of the answer that carries out a plan in free words, and at last the whole answer; all passages are read.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    return _write(inputs, reader, _every_passage(inputs), partial(_by_text, inputs, plan, reader))


def answer_plainly(inputs: AnswerInputs, reader: ReaderModel) -> AsyncIterator[str | Outcome[str]]:
    """Pieces of an answer from the passages by the rules for the reader, in one call; at last the whole answer.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    return _write(inputs, reader, _every_passage(inputs), partial(_plain, inputs, reader))


def _plain(inputs: AnswerInputs, reader: ReaderModel, numbers: Sequence[int]) -> str:
    return reader.prompt("answer-passages").render(
        question=question_block(inputs),
        passages=_passages(inputs, numbers),
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _planned(inputs: AnswerInputs, collected: Collected, reader: ReaderModel, numbers: Sequence[int]) -> str:
    graph = collected.graph
    others = {n: source_name(chunk) for n, chunk in enumerate(inputs.chunks, start=1) if n not in numbers}
    missing = f"No passage says:\n{fenced('missing', graph.missing)}\n" if graph.missing else ""
    reading = READING if has_roles(collected) else ""
    return _by_text(inputs, plan_block(collected, others), reader, numbers, reading=reading, missing=missing)


def _by_text(
    inputs: AnswerInputs,
    plan: str,
    reader: ReaderModel,
    numbers: Sequence[int],
    *,
    reading: str = "",
    missing: str = "",
) -> str:
    return reader.prompt("answer-statements").render(
        question=question_block(inputs),
        passages=_passages(inputs, numbers),
        plan=fenced("plan", plan),
        reading=reading,
        missing=missing,
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _every_passage(inputs: AnswerInputs) -> list[int]:
    return list(range(1, len(inputs.chunks) + 1))


def _needed_passages(collected: Collected) -> list[int]:
    """The passages that the model reads in full next to the plan, by their numbers.

    They are all passages of statements that conflict or share a name, and few that have a quotation of each other
    statement. Evidence needs none: the plan has its words.
    """
    graph, needed = collected.graph, dict[int, None]()
    told = [graph.by_number[n] for n in collected.plan.numbers]
    for statement in (s for s in told if s.number in graph.in_conflict):
        needed |= dict.fromkeys(statement.passages)
    left = [s.passages for s in told if s.role is not StatementRole.BACKS] or [s.passages for s in told]
    while left := [passages for passages in left if not needed.keys() & set(passages)]:
        in_most, _ = Counter(chain.from_iterable(left)).most_common(1)[0]
        needed[in_most] = None
    return list(needed)


def _passages(inputs: AnswerInputs, numbers: Sequence[int]) -> str:
    shown = sorted(numbers)
    return "\n\n".join(passage_blocks([inputs.chunks[n - 1] for n in shown], shown)) if shown else "(none)"


# --- calling --------------------------------------------------------------------------------------

PromptOver = Callable[[Sequence[int]], str]
"""Makes the prompt over these passages."""


async def _write(
    inputs: AnswerInputs, reader: ReaderModel, numbers: list[int], prompt_over: PromptOver
) -> AsyncIterator[str | Outcome[str]]:
    prompt, failures = await _fitting(inputs, reader, numbers, prompt_over)
    request = reader.request(STAGE, prompt, partial(read_answer, inputs=inputs), await reader.answer_limit())
    request = replace(request, cut=whole_sentences, beam_width=reader.beam_width)
    shown = Shown([chunk.text for chunk in inputs.chunks])
    async for piece in reader.model.stream(request):
        if isinstance(piece, Reply):
            if rest := shown.rest():
                yield rest
            outcome = outcome_of(STAGE, piece)
            yield replace(outcome, failures=(*failures, *outcome.failures, *wrong_citations(piece.text, inputs)))
        elif text := shown.push(piece):
            yield text


async def _fitting(
    inputs: AnswerInputs, reader: ReaderModel, numbers: list[int], prompt_over: PromptOver
) -> tuple[str, tuple[Failure, ...]]:
    """The prompt over the first of these passages that fit the context, and a failure if some do not.

    Raises:
        ContextTooLongError: No passage fits.
    """
    room = await reader.room(prompt_over([]), await reader.answer_limit())
    sizes = reader.count(passage_blocks([inputs.chunks[n - 1] for n in numbers], numbers))
    k = len(numbers)
    while k and sum(sizes[:k]) > room:
        k -= 1
    if k == len(numbers):
        return prompt_over(numbers), ()
    context = await reader.model.context_tokens()
    error = ContextTooLongError(f"A context of {context} tokens holds {k} of {len(numbers)} passages of the prompt.")
    if not k:
        raise error
    return prompt_over(numbers[:k]), (Failure.of(STAGE, error, fallback=f"{k} passages"),)


def read_answer(text: str, inputs: AnswerInputs) -> str:
    """The answer in a reply: without its label, its citations as ``[1]``, none of an unknown passage.

    Raises:
        ValueError: The answer says nothing.
    """
    passages = [chunk.text for chunk in inputs.chunks]
    answer = without_unknown(_LABEL.sub("", _cited_text(text, passages)), passages).strip()
    if not any(c.isalnum() for c in without_references(answer, chunks=len(passages))):
        raise ValueError("The output says nothing.")
    return answer


def _cited_text(text: str, passages: Sequence[str]) -> str:
    return cited_in_brackets(prose_in(without_fences(text)), passages)


def wrong_citations(text: str, inputs: AnswerInputs) -> list[Failure]:
    """A failure if an answer, as the model wrote it, cites passages that do not exist."""
    passages = [chunk.text for chunk in inputs.chunks]
    found = unknown_passages(references(_cited_text(text, passages)), passages)
    unknown = ", ".join(map(format_reference, found[:5]))
    error = InvalidOutputError(f"The answer cites {unknown}; there are {len(passages)} passages.")
    return [Failure.of(STAGE, error, fallback="the answer without these citations")] if found else []
