"""The sentences of a draft in which its check found a problem, written again in one call."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from discorag.answering.json_replies import json_object
from discorag.answering.plans import plan_block
from discorag.answering.reader import ReaderModel, question_block
from discorag.answering.statements import Collected, dicts_of, list_schema, number_of, object_schema
from discorag.answering.write import UnknownPassageError, cited_text, fitting_passages, other_sources, passages_shown
from discorag.generation.prompted.prose import outcome_of
from discorag.schema.answer import Answer, AnswerInputs, AnswerSentence, Outcome
from discorag.schema.ledger import Failure
from discorag.schema.values import Span
from discorag.text.citations import references, without_references, without_unknown
from discorag.text.fences import fenced
from discorag.text.sentences import sentence_spans

STAGE = "correct"
_TOKENS = 160
"""Tokens of the reply for each sentence."""
_ANY = 9999
"""Every number is a citation: a draft has none of a passage that does not exist."""


@dataclass(frozen=True)
class Problem:
    """A sentence of a checked answer, and what is wrong with it."""

    sentence: AnswerSentence
    reason: str


@dataclass(frozen=True)
class _Marked:
    """A sentence with a problem, as it stands in the draft."""

    span: Span
    text: str
    problem: Problem


def problems_in(answer: Answer, draft: str, failures: Sequence[Failure]) -> list[Problem]:
    """The sentences with a problem: those that views mark, and those that cite only passages which do not exist.

    Args:
        answer: The answer that was made of the draft.
        draft: The draft, from which wrong citations were taken out.
        failures: What went wrong in the run so far; one of them names the sentences with wrong citations.
    """
    wrong = [failure.message for failure in failures if failure.kind == UnknownPassageError.__name__]
    citing = {text for _, sentence, text in _sentences(draft) if references(sentence)}
    found = list[Problem]()
    for sentence in answer.sentences:
        reasons = [sentence.reason] if sentence.is_problem else []
        if sentence.text not in citing:
            reasons += [message for message in wrong if f"“{sentence.text}”" in message]
        found += [Problem(sentence, " ".join(reasons))] if reasons else []
    return found


def is_whole(new: Answer, old: Answer, problems: Sequence[Problem]) -> bool:
    """Whether a corrected answer has every sentence of the old one that had no problem."""
    sound = {sentence.text for sentence in old.sentences} - {problem.sentence.text for problem in problems}
    return sound <= {sentence.text for sentence in new.sentences}


async def correct_sentences(
    inputs: AnswerInputs, collected: Collected | None, reader: ReaderModel, draft: str, problems: Sequence[Problem]
) -> Outcome[str]:
    """The draft with its problems corrected by the model; its other sentences stay as they are.

    The model reads the draft, the problems, the statements, and the passages that the sentences cite or tell.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    marked = list(_marked(draft, problems))
    prompt_over = partial(_prompt, inputs, collected, reader, draft, marked)
    numbers = _passages_of(marked, inputs, collected)
    kept, failures = await fitting_passages(inputs, reader, numbers, prompt_over, least=0)
    limit = min(_TOKENS * (1 + len(marked)), await reader.answer_limit())
    request = reader.request(STAGE, prompt_over(kept), partial(_corrections, inputs=inputs), limit)
    reply = await reader.model.complete(replace(request, schema=corrections_schema(len(marked))))
    outcome = outcome_of(STAGE, reply).holding(_corrected(draft, marked, reply.value))
    return replace(outcome, failures=(*failures, *outcome.failures))


def _marked(draft: str, problems: Sequence[Problem]) -> Iterator[_Marked]:
    """The sentences of the draft that have a problem."""
    by_text = {problem.sentence.text: problem for problem in problems}
    for span, sentence, text in _sentences(draft):
        if text in by_text:
            yield _Marked(span, sentence, by_text[text])


def _sentences(draft: str) -> Iterator[tuple[Span, str, str]]:
    """Where each sentence of a draft is, the sentence, and its text without citations."""
    before = 0
    for line in draft.splitlines(keepends=True):
        for span in sentence_spans(line):
            sentence = span.of(line)
            yield span.shifted(before), sentence, without_references(sentence, chunks=_ANY).strip()
        before += len(line)


def _passages_of(marked: Sequence[_Marked], inputs: AnswerInputs, collected: Collected | None) -> list[int]:
    """The passages that the sentences cite, that are their evidence, and that the statements which they tell quote."""
    statements = collected.graph.statements if collected else ()
    told = {number for m in marked for number in m.problem.sentence.statements}
    chunk_ids = {e.chunk_id for m in marked for e in m.problem.sentence.evidence}
    found = {r.chunk for m in marked for r in references(m.text)}
    found |= {n for statement in statements if statement.number in told for n in statement.passages}
    return [n for n, chunk in enumerate(inputs.chunks, start=1) if n in found or chunk.id in chunk_ids]


def _prompt(
    inputs: AnswerInputs,
    collected: Collected | None,
    reader: ReaderModel,
    draft: str,
    marked: Sequence[_Marked],
    numbers: Collection[int],
) -> str:
    lines = (f"{i}. {' '.join(m.text.split())}\n   {m.problem.reason}" for i, m in enumerate(marked, start=1))
    return reader.prompt("correct-sentences").render(
        question=question_block(inputs),
        passages=passages_shown(inputs, numbers),
        statements=fenced("notes", plan_block(collected, other_sources(inputs, numbers)) if collected else "(none)"),
        draft=fenced("draft", draft),
        problems=fenced("problems", "\n".join(lines)),
    )


def corrections_schema(most: int) -> dict[str, Any]:
    """The JSON schema of a reply with so many sentences at most."""
    number, text = {"type": "integer", "minimum": 1, "maximum": most}, {"type": "string"}
    return object_schema({"sentences": list_schema(object_schema({"number": number, "text": text}), most)})


def _corrections(text: str, inputs: AnswerInputs) -> dict[int, str]:
    """The corrected sentences by their numbers. Raises ``ValueError`` if the reply is not in the form asked for."""
    passages = [chunk.text for chunk in inputs.chunks]
    found = dict[int, str]()
    for item in dicts_of(json_object(text, "sentences")["sentences"]):
        if (number := number_of(item.get("number"))) and isinstance(item.get("text"), str):
            found[number] = without_unknown(cited_text(" ".join(item["text"].split()), passages), passages).strip()
    return found


def _corrected(draft: str, marked: Sequence[_Marked], corrections: dict[int, str]) -> str:
    """The draft with the corrections in place; with an empty one, the sentence and the space before it are gone."""
    text, at = "", 0
    for number, sentence in enumerate(marked, start=1):
        new = corrections.get(number, sentence.text)
        before = draft[at : sentence.span.start]
        text += (before if new else before.rstrip(" ")) + new
        at = sentence.span.end
    return (text + draft[at:]).strip()
