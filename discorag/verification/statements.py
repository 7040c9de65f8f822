"""Finds the statements that sentences of a written answer tell: they cite the same passages and share words."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from discorag.schema.answer import AnswerInputs, EvidenceSpan
from discorag.schema.discourse import Plan, PlanStep, Reference
from discorag.schema.statements import Quotation, Statement, StatementGraph, names_statements, parse_plan
from discorag.text.citations import references, with_steps
from discorag.text.terms import terms

_STEM = 4
"""Letters that the forms of a word share."""
_FIGURE = 1.5
"""How much a figure counts, compared with a word."""
_SHARE = 0.45
"""The least share of a statement's weight in words that a sentence which tells it has."""


def shared_words(text: str) -> frozenset[str]:
    """The words of a text by which it is compared with statements: stems, and figures as they are."""
    return frozenset(t if _is_figure(t) else t[:_STEM] for t in terms(text))


def _is_figure(word: str) -> bool:
    return any(map(str.isdigit, word))


@dataclass(frozen=True)
class StatementIndex:
    """Finds the statements on a question that a sentence tells.

    The fewer statements have a word, the more it counts.
    """

    graph: StatementGraph

    @cached_property
    def _words(self) -> Mapping[int, frozenset[str]]:
        return {s.number: shared_words(s.says) for s in self.graph.statements}

    @cached_property
    def _weights(self) -> Mapping[str, float]:
        counts, every = Counter(word for words in self._words.values() for word in words), len(self._words)
        return {w: math.log((every + 1) / n) * (_FIGURE if _is_figure(w) else 1.0) for w, n in counts.items()}

    def find_told(self, sentence: str, cited: Collection[str]) -> tuple[Statement, ...]:
        """The statements that a sentence tells, of those that quote a chunk which it cites; ``cited`` has chunk ids.

        They share enough of their words with the sentence. Of those that quote a chunk, it tells at least the one that
        shares most, in its own words or else in the quoted ones, if any does.
        """
        words, told = shared_words(sentence), set[int]()
        scores = {s.number: (self._share(s, words), _quoted_share(s, words)) for s in self.graph.statements}
        for chunk_id in cited:
            quoting = [s.number for s in self.graph.statements if any(q.chunk_id == chunk_id for q in s.quotations)]
            best = max(quoting, key=scores.__getitem__, default=None)
            told |= {n for n in quoting if scores[n][0] >= _SHARE or (n == best and any(scores[n]))}
        return tuple(s for s in self.graph.statements if s.number in told)

    def find_elsewhere(self, sentence: str, cited: Collection[str]) -> tuple[Statement, ...]:
        """The statements that a sentence tells if none of them quotes a chunk that it cites, the likeliest first.

        They share enough of their words with the sentence.
        """
        words = shared_words(sentence)
        scores = {s.number: score for s in self.graph.statements if (score := self._share(s, words)) >= _SHARE}
        told = sorted(scores, key=scores.__getitem__, reverse=True)
        statements = tuple(self.graph.by_number[n] for n in told)
        return () if any(q.chunk_id in cited for s in statements for q in s.quotations) else statements

    def _share(self, statement: Statement, words: frozenset[str]) -> float:
        """The share of a statement's weight that is in these words."""
        own = self._words[statement.number]
        return sum(self._weights[w] for w in own & words) / (sum(self._weights[w] for w in own) or 1.0)


def _quoted_share(statement: Statement, words: frozenset[str]) -> float:
    """The share of the words of a statement's quotations that are these words."""
    quoted = shared_words(" ".join(q.text for q in statement.quotations))
    return len(quoted & words) / (len(quoted) or 1)


def cited_chunks(sentence: str, inputs: AnswerInputs) -> list[str]:
    """The ids of the chunks that a sentence of a draft cites."""
    cited = {r.chunk for r in references(sentence)}
    return [chunk.id for n, chunk in enumerate(inputs.chunks, start=1) if n in cited]


def quoted_evidence(inputs: AnswerInputs, told: Sequence[Statement], cited: Collection[str]) -> list[EvidenceSpan]:
    """The quotations of the statements that a sentence tells, in the chunks that it cites."""
    quotations = [q for statement in told for q in statement.quotations if q.chunk_id in cited]
    return list(dict.fromkeys(quoted_spans(inputs, quotations)))


def quoted_spans(inputs: AnswerInputs, quotations: Sequence[Quotation]) -> Iterator[EvidenceSpan]:
    """The exact places of quotations, as far as their chunks are among those of the question."""
    chunks = {chunk.id: chunk for chunk in inputs.chunks}
    for quotation in quotations:
        for span in quotation.spans if quotation.chunk_id in chunks else ():
            yield EvidenceSpan.of(chunks[quotation.chunk_id], span)


def plan_with_steps(inputs: AnswerInputs) -> Plan | None:
    """The plan of the answer with its steps: lines over statements, else sentences.

    Raises:
        InputError: The plan names a statement that does not exist.
    """
    plan, graph = inputs.plan, inputs.statements
    if plan is None:
        return None
    if graph is None or not names_statements(plan.paragraph):
        return with_steps(plan)
    steps = tuple(
        PlanStep(
            text=step.text,
            references=_passages_of([graph.by_number[n] for n in step.statements]),
            statements=step.statements,
            role=step.role,
        )
        for step in parse_plan(plan.paragraph, graph).steps
    )
    return plan.model_copy(update={"steps": steps})


def _passages_of(statements: Sequence[Statement]) -> tuple[Reference, ...]:
    return tuple(Reference(chunk=n) for n in dict.fromkeys(p for s in statements for p in s.passages))


def step_telling(steps: Sequence[PlanStep], told: Collection[int], passed: int) -> int | None:
    """The step with most of the statements that a sentence tells; of several, the first one not yet passed."""
    scores = [(len({*told}.intersection(step.statements)), at > passed, -at) for at, step in enumerate(steps)]
    most = max(scores, default=(0, False, 0))
    return -most[2] if most[0] else None
