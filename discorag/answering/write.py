"""generate with a language model: prose over a plan and the passages that it cites, or over the passages alone."""

import re
from collections.abc import AsyncIterator, Callable, Collection, Sequence
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
from discorag.verification.draft import drafted_sentences

STAGE = "generate"


class UnknownPassageError(InvalidOutputError):
    """A sentence of an answer cites a passage that does not exist."""


_WORDS = r"(?:answer|antwort|respuesta|réponse|risposta|resposta|ответ|答案|回答|答え|답변)"
LABEL = re.compile(
    r"\A(?:\\n|[\s*_#])*(?:(?:here is|here's|now) )?(?:the |my |final )*"
    + _WORDS
    + r"(?: to the question)?[ *_]*(?:[:：]|\n)[\s*_]*",
    re.IGNORECASE,
)
"""What models write before an answer."""


def write_answer(inputs: AnswerInputs, collected: Collected, reader: ReaderModel) -> AsyncIterator[str | Outcome[str]]:
    """Pieces of the answer that carries out the plan, and at last the whole checked answer.

    The model reads the plan, the words on which it rests, and the passages that it cites. Relations are shown where
    sources conflict or share a name. A plan without steps is answered from all passages.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    if not collected.plan.steps:
        return answer_plainly(inputs, reader)
    cited = _cited_passages(collected)
    return _write(inputs, reader, cited, partial(_planned, inputs, collected, reader), least=0)


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
        passages=passages_shown(inputs, numbers),
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _planned(inputs: AnswerInputs, collected: Collected, reader: ReaderModel, numbers: Sequence[int]) -> str:
    graph = collected.graph
    missing = f"No passage says:\n{fenced('missing', graph.missing)}\n" if graph.missing else ""
    reading = READING if has_roles(collected) else ""
    plan = plan_block(collected, other_sources(inputs, numbers))
    return _by_text(inputs, plan, reader, numbers, reading=reading, missing=missing)


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
        passages=passages_shown(inputs, numbers),
        plan=fenced("plan", plan),
        reading=reading,
        missing=missing,
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _every_passage(inputs: AnswerInputs) -> list[int]:
    return list(range(1, len(inputs.chunks) + 1))


def _cited_passages(collected: Collected) -> list[int]:
    """The passages that statements of the plan quote, those of conflicts first, by their numbers."""
    graph = collected.graph
    told = [graph.by_number[n] for n in collected.plan.numbers]
    told.sort(key=lambda statement: statement.number not in graph.in_conflict)
    return list(dict.fromkeys(chain.from_iterable(s.passages for s in told)))


def passages_shown(inputs: AnswerInputs, numbers: Collection[int]) -> str:
    """The passages with these numbers, as a prompt shows them."""
    return "\n\n".join(_blocks(inputs, sorted(numbers))) or "(none)"


def other_sources(inputs: AnswerInputs, numbers: Collection[int]) -> dict[int, str]:
    """The names of the sources of all other passages, by their numbers."""
    return {n: source_name(chunk) for n, chunk in enumerate(inputs.chunks, start=1) if n not in numbers}


def _blocks(inputs: AnswerInputs, numbers: Sequence[int]) -> list[str]:
    return passage_blocks([inputs.chunks[n - 1] for n in numbers], numbers) if numbers else []


# --- calling --------------------------------------------------------------------------------------

PromptOver = Callable[[Sequence[int]], str]
"""Makes the prompt over these passages."""


async def _write(
    inputs: AnswerInputs,
    reader: ReaderModel,
    numbers: Sequence[int],
    prompt_over: PromptOver,
    *,
    least: int = 1,
    before: tuple[Failure, ...] = (),
) -> AsyncIterator[str | Outcome[str]]:
    """Write over these passages, or over half of them if the server refuses as many because of their length."""
    kept, failures = await fitting_passages(inputs, reader, numbers, prompt_over, least=least)
    failures = (*before, *failures)
    try:
        async for part in _stream(inputs, reader, prompt_over(kept)):
            whole = isinstance(part, Outcome)
            yield replace(part, failures=(*failures, *part.failures)) if whole else part
        return
    except ContextTooLongError as error:
        if len(kept) <= least:
            raise
        half = kept[: len(kept) // 2]
        lost = Failure.of(STAGE, error, fallback=f"{len(half)} of {len(kept)} passages")
    async for part in _write(inputs, reader, half, prompt_over, least=least, before=(*failures, lost)):
        yield part


async def _stream(inputs: AnswerInputs, reader: ReaderModel, prompt: str) -> AsyncIterator[str | Outcome[str]]:
    request = reader.request(STAGE, prompt, partial(read_answer, inputs=inputs), await reader.answer_limit())
    request = replace(request, cut=whole_sentences, beam_width=reader.beam_width)
    shown = Shown([chunk.text for chunk in inputs.chunks])
    async for piece in reader.model.stream(request):
        if isinstance(piece, Reply):
            if rest := shown.rest():
                yield rest
            outcome = outcome_of(STAGE, piece)
            yield replace(outcome, failures=(*outcome.failures, *wrong_citations(piece.text, inputs)))
        elif text := shown.push(piece):
            yield text


async def fitting_passages(
    inputs: AnswerInputs, reader: ReaderModel, numbers: Sequence[int], prompt_over: PromptOver, *, least: int = 1
) -> tuple[list[int], tuple[Failure, ...]]:
    """The first of these passages that fit the context next to the prompt, and a failure if some do not.

    Raises:
        ContextTooLongError: Fewer than ``least`` of the passages fit.
    """
    room = await reader.room(prompt_over([]), await reader.answer_limit())
    kept = list[int]()
    for number, size in zip(numbers, reader.count(_blocks(inputs, numbers)), strict=True):
        if size <= room:
            kept.append(number)
            room -= size
    if len(kept) == len(numbers):
        return kept, ()
    context, k = await reader.model.context_tokens(), len(kept)
    error = ContextTooLongError(f"A context of {context} tokens holds {k} of {len(numbers)} passages of the prompt.")
    if k < least:
        raise error
    return kept, (Failure.of(STAGE, error, fallback=f"{k} passages"),)


def read_answer(text: str, inputs: AnswerInputs) -> str:
    """The answer in a reply: without its label, its citations as ``[1]``, none of an unknown passage.

    Raises:
        ValueError: The answer says nothing.
    """
    passages = [chunk.text for chunk in inputs.chunks]
    answer = without_unknown(LABEL.sub("", cited_text(text, passages)), passages).strip()
    if not any(c.isalnum() for c in without_references(answer, chunks=len(passages))):
        raise ValueError("The output says nothing.")
    return answer


def cited_text(text: str, passages: Sequence[str]) -> str:
    """The prose in a reply, with its citations as ``[1]``."""
    return cited_in_brackets(prose_in(without_fences(text)), passages)


def wrong_citations(text: str, inputs: AnswerInputs) -> list[Failure]:
    """A failure that names the sentences of an answer, as the model wrote it, that cite passages which do not exist."""
    passages = [chunk.text for chunk in inputs.chunks]
    unknown, wrong = list[str](), list[str]()
    for sentence in drafted_sentences(cited_text(text, passages), len(passages)):
        if found := unknown_passages(references(sentence), passages):
            unknown += map(format_reference, found)
            wrong.append(f"“{without_references(without_unknown(sentence, passages), chunks=len(passages)).strip()}”")
    cited = ", ".join(list(dict.fromkeys(unknown))[:5])
    error = UnknownPassageError(f"The answer cites {cited}; there are {len(passages)} passages: {' '.join(wrong)}.")
    return [Failure.of(STAGE, error, fallback="the answer without these citations")] if wrong else []
