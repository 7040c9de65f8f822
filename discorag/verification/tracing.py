"""Traces every sentence of a draft to places in the sources, and adds the conflicts between these."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from discorag.conflicts.stored import stored_disagreements
from discorag.generation.relevance import PAIRS, find_candidates, in_context
from discorag.ingest.segment.reading import strip_markdown
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable, folded, sentences_of, within_window
from discorag.models.protocol import Encoder
from discorag.models.reranker import Reranker
from discorag.schema.answer import Answer, AnswerInputs, AnswerSentence, Citation, EvidenceSpan, Outcome, Support
from discorag.schema.discourse import PlanStep
from discorag.schema.document import Scope, UnitKind
from discorag.schema.errors import ModelError
from discorag.schema.values import Span, Vectors
from discorag.store.store import Store
from discorag.text.citations import place_references, references, without_references
from discorag.text.terms import terms
from discorag.verification.checks import Check, Checker
from discorag.verification.claims import Claim, Judge, Place, Verdict, label
from discorag.verification.disagreements import (
    disagreements_of_chunks,
    disagreements_of_statements,
    namesakes_of_statements,
)
from discorag.verification.draft import drafted_sentences, is_heading
from discorag.verification.leads import add_leads
from discorag.verification.statements import (
    StatementIndex,
    cited_chunks,
    plan_with_steps,
    quoted_evidence,
    quoted_spans,
    step_telling,
)
from discorag.verification.summaries import replace_summaries

PLACES = 3
"""How many sentences of the cited chunks, and how many of the others, become places."""


async def find_places(
    inputs: AnswerInputs, table: SentenceTable, cited: set[int], sentence: str, vector: Vectors, reranker: Reranker
) -> Claim:
    """Places around the sentences that are closest to a sentence of an answer: in the cited chunks, then in others;
    and the closest sentence of each cited chunk.

    The reranker reads at most `PAIRS` sentences, with the answer's sentence as the query. If its endpoint fails, the
    cosine to ``vector``, that of the answer's sentence, shape (d,), decides.
    """
    parts = [part for part in _parts(table, cited) if part]
    groups = [find_candidates(inputs, table, part, sentence, vector, PAIRS // len(parts)) for part in parts]
    candidates = [i for group in groups for i in group]
    try:
        found = await reranker.scores(sentence, [in_context(inputs, table.sentences[i]) for i in candidates])
    except ModelError:
        found = (table.vectors[candidates] @ vector).tolist()
    scores = dict(zip(candidates, found, strict=True))
    ranked = [sorted(group, key=scores.__getitem__, reverse=True) for group in groups]
    best = [i for group in ranked for i in group[:PLACES]]
    places = dict.fromkeys(place for i in best for place in _around(inputs, table, i))
    by_cosine = (table.vectors @ vector).argsort()[::-1].tolist()
    first = dict[int, int]()
    for i in (*chain.from_iterable(ranked), *by_cosine):
        first.setdefault(table.sentences[i].chunk, i)
    closest = (_around(inputs, table, first[chunk])[0] for chunk in sorted(cited) if chunk in first)
    return Claim(sentence, tuple(places), tuple(closest), inputs.query)


def _parts(table: SentenceTable, cited: set[int]) -> list[list[int]]:
    """The statements of the cited chunks and of the others; if one part has none, all its units."""
    parts = [[i for i, u in enumerate(table.sentences) if (u.chunk in cited) is inside] for inside in (True, False)]
    return [[i for i in part if table.sentences[i].statement] or part for part in parts]


def _around(inputs: AnswerInputs, table: SentenceTable, i: int) -> list[Place]:
    """The sentence around a unit alone, and with the ones before and after it."""
    first, last = whole_sentence(i, table)
    chunk = table.of_chunk(table.sentences[i].chunk)
    return [
        _place(inputs, table, first, last),
        _place(inputs, table, max(first - 1, chunk[0]), min(last + 1, chunk[-1])),
    ]


def _place(inputs: AnswerInputs, table: SentenceTable, first: int, last: int) -> Place:
    units = table.sentences[first : last + 1]
    chunk = inputs.chunks[units[0].chunk - 1]
    headings = (h for u in units for h in u.headings)
    return Place(tuple(range(first, last + 1)), " ".join(u.plain for u in units), label(chunk, headings))


def whole_sentence(i: int, table: SentenceTable) -> tuple[int, int]:
    """The first and last unit of the sentence that unit ``i`` is part of, with the words that say who speaks."""
    first, last = i, i
    while first > 0 and _continues(table, first - 1):
        first -= 1
    while last + 1 < len(table.sentences) and _continues(table, last):
        last += 1
    return first, last


_BETWEEN = 20
"""Most characters between two parts of a sentence: a break, an indent, a list's mark. More is a gap of the chunk."""


def _continues(table: SentenceTable, i: int) -> bool:
    unit, then = table.sentences[i], table.sentences[i + 1]
    is_heading_like = unit.kind is UnitKind.HEADING or unit.text.isupper()  # in a PDF a heading may be a plain line
    is_open = not unit.statement and not is_heading_like
    follows = unit.chunk == then.chunk and then.span.start - unit.span.end <= _BETWEEN
    return follows and is_open and then.text[:1].islower()


Copies = Mapping[str, Sequence[tuple[int, range]]]


@dataclass(frozen=True)
class _DraftSentence:
    """A sentence of a draft with its citations; ``bare``, which is compared, has neither citations nor markup."""

    text: str
    bare: str

    @property
    def cited(self) -> set[int]:
        return {r.chunk for r in references(self.text)}


@dataclass(frozen=True)
class _TracedSentence:
    """The result for a sentence, as in `AnswerSentence`, with units of the table instead of evidence.

    ``around`` are the other sentences of the quoted passage.
    """

    support: Support
    reason: str
    units: tuple[Sentence, ...] = ()
    confidence: float | None = None
    around: tuple[Span, ...] = ()
    check: Check = field(default_factory=Check)

    def chunks(self, cited: Sequence[str]) -> list[str]:
        """The ids of the chunks that the sentence rests on: those that it cites, with or replaced by the check's."""
        repair = self.check.repair
        return [*([] if self.check.is_corrected else cited), *([repair.chunk_id] if repair else [])]


class Verifier(Protocol):
    """Checks a draft against what it was written from."""

    async def verify(self, inputs: AnswerInputs, draft: str) -> Outcome[Answer]:
        """The draft's sentences with their evidence and state. Raises `ModelError` if a model failed."""
        ...


@dataclass(frozen=True)
class TracingVerifier:
    """Traces every sentence of a draft to its sources.

    1. A heading or a sentence without content ("It did.") has nothing to check.
    2. A sentence that a source has word for word is quoted.
    3. For other sentences the reranker finds the closest places, which are their evidence.
    4. The `Checker` compares them with the chunks that they cite. It marks them to be checked, or mends citations.
    5. The judge decides those that are not marked; without a judge they are cited.
    """

    encoder: Encoder
    reranker: Reranker
    judge: Judge | None = None

    async def verify(self, inputs: AnswerInputs, draft: str) -> Outcome[Answer]:
        """The sentences of a draft that cites chunks of the inputs as ``[2]`` or their units as ``[2.3]``.

        Raises:
            ModelError: The encoder or the judge is an endpoint and fails.
        """
        table = await sentences_of(inputs, self.encoder)
        copies = _copies(table)
        drafts = _split_draft(draft, len(inputs.chunks), copies)
        found = {i: t for i, d in enumerate(drafts) if (t := _trace_at_once(d, inputs, table, copies))}
        claims = await self._claims(inputs, table, {i: d for i, d in enumerate(drafts) if i not in found})
        checker = Checker(inputs)
        checks = {i: checker.check(drafts[i].bare, drafts[i].cited) for i in claims}
        judged = {i: c for i, c in claims.items() if checks[i].support is not Support.CHECK} if self.judge else {}
        verdicts = await self.judge.judge([*judged.values()]) if self.judge else Outcome(value=())
        verdict_of = dict(zip(judged, verdicts.value, strict=True))
        for i, claim in claims.items():
            found[i] = _trace(claim, verdict_of.get(i), checks[i], table)
        answer = _answer(inputs, drafts, [found[i] for i in range(len(drafts))])
        if inputs.statements is None:
            used = {e.chunk_id for sentence in answer.sentences for e in sentence.evidence}
            answer = answer.model_copy(update={"disagreements": disagreements_of_chunks(inputs, table, used)})
        return replace(verdicts.holding(answer), counts=_counts(checks.values()))

    async def _claims(
        self, inputs: AnswerInputs, table: SentenceTable, drafts: Mapping[int, _DraftSentence]
    ) -> dict[int, Claim]:
        texts = within_window([d.bare for d in drafts.values()], self.encoder)
        vectors = await self.encoder.encode_documents(texts)
        return {
            i: await find_places(inputs, table, d.cited, d.bare, vector, self.reranker)
            for (i, d), vector in zip(drafts.items(), vectors, strict=True)
        }


def _counts(checks: Iterable[Check]) -> dict[str, int]:
    """The counts for the ledger."""
    return dict(Counter(CORRECTED if check.is_corrected else ADDED for check in checks if check.repair))


QUOTED = "Quoted word for word."
ADDED, CORRECTED = "citations added", "citations corrected"
"""The ledger's counts of sentences to which a citation was added, and of those whose citations it replaced."""
_NO_PASSAGES = "There are no passages to compare it with."
_HEADING = "It is a heading, which states nothing."
_NO_CONTENT = "It says nothing that could be looked up."
_ASSENT = frozenset(
    ("yes", "no", "not", "nor", "true", "false", "right", "wrong", "correct", "indeed", "never", "always", "ok", "okay")
)
"""Words that only refer to an earlier statement."""


def _copies(table: SentenceTable) -> Copies:
    """Units and the passages that quote them, by the forms that an answer may copy: with and without the prefix."""
    found: dict[str, list[tuple[int, range]]] = {}
    for i, unit in enumerate(table.sentences):
        whole = table.passage(i)
        first, last = whole_sentence(i, table)
        for passage in {
            range(i, i + 1),
            range(first, last + 1),
            *(range(n, whole.stop) for n in range(whole.start, i + 1)),
        }:
            text = table.quote(passage)
            for form in {_flat(unit.prefix + text), _flat(text)}:
                found.setdefault(form, []).append((i, passage))
    return found


def _flat(text: str) -> str:
    return folded(" ".join(text.split()))


def _split_draft(draft: str, chunks: int, copies: Copies) -> list[_DraftSentence]:
    """The sentences of a draft; a line that copies a whole unit is one sentence, whatever full stops it has."""

    def is_copy(text: str) -> bool:
        return _flat(without_references(text, chunks=chunks)) in copies

    found: list[_DraftSentence] = []
    for line in draft.splitlines():
        for text in [line] if is_copy(line) else drafted_sentences(line, chunks):
            bare = without_references(text, chunks=chunks).strip()
            found.append(_DraftSentence(text, bare if is_copy(text) else strip_markdown(bare)))
    return found


def _trace_at_once(
    sentence: _DraftSentence, inputs: AnswerInputs, table: SentenceTable, copies: Copies
) -> _TracedSentence | None:
    """The result that needs no model; None if there is none.

    If several units have the words, a cited one is best, then one of a cited chunk.
    """
    exact = {(r.chunk, r.first) for r in references(sentence.text)}
    found = [
        (table.sentences[i], passage, whole_sentence(i, table)) for i, passage in copies.get(_flat(sentence.bare), ())
    ]
    same = [
        (unit, passage)
        for unit, passage, (first, last) in found
        if {first, last} <= {*passage} or (unit.chunk, unit.number) in exact
    ]
    is_item = any(unit.kind is UnitKind.ITEM for unit, _ in same)  # "* `README`" also if a document is called so
    if not is_item and is_heading(without_references(sentence.text, chunks=len(inputs.chunks)), inputs):
        return _TracedSentence(Support.CITED, _HEADING)
    if _ASSENT.issuperset(terms(sentence.bare)):
        return _TracedSentence(Support.CITED, _NO_CONTENT)
    if not same:
        return None if table.sentences else _TracedSentence(Support.CHECK, _NO_PASSAGES)
    unit, passage = min(same, key=lambda c: ((c[0].chunk, c[0].number) not in exact, c[0].chunk not in sentence.cited))
    around = tuple(other.span for other in table.quoted_units(passage) if other is not unit)
    return _TracedSentence(Support.QUOTED, QUOTED, (unit,), around=around)


def _trace(claim: Claim, verdict: Verdict | None, check: Check, table: SentenceTable) -> _TracedSentence:
    """The judge's verdict, else what the check found; if the verdict names no place, the closest ones are shown."""
    found = verdict or Verdict(check.support, reason=check.reason)
    places = found.places or (() if check.is_corrected else claim.closest or claim.places[:1])
    units = dict.fromkeys(i for place in places for i in place.units)
    return _TracedSentence(
        support=found.support,
        reason=found.reason,
        units=tuple(table.sentences[i] for i in units),
        confidence=None if found.probability is None else round(found.probability, 3),
        check=check,
    )


def _answer(inputs: AnswerInputs, drafts: Sequence[_DraftSentence], traced: Sequence[_TracedSentence]) -> Answer:
    """The answer with its plan steps, and with the disagreements and namesakes of its statements."""
    graph, plan = inputs.statements, plan_with_steps(inputs)
    index = StatementIndex(graph) if graph else None
    sentences: list[AnswerSentence] = []
    passed = -1  # the last plan step carried out
    for sentence, found in zip(drafts, traced, strict=True):
        cited = found.chunks(cited_chunks(sentence.text, inputs))
        told = index.find_told(sentence.bare, cited) if index else ()
        numbers = tuple(s.number for s in told)
        step = _step(plan.steps, sentence, found, numbers, passed) if plan else None
        passed = max(passed, -1 if step is None else step)
        evidence = _evidence(inputs, sentence, found, quoted_evidence(inputs, told, cited))
        citations = [*_citations(inputs, sentence.text, {e.chunk_id for e in evidence})]
        places = {citation.chunk_id: citation.at for citation in reversed(citations)}
        sentences.append(
            AnswerSentence(
                text=without_references(sentence.text, chunks=len(inputs.chunks)).strip(),
                citations=tuple(citations),
                support=found.support,
                evidence=tuple(sorted(evidence, key=lambda e: places.get(e.chunk_id, len(sentence.text)))),
                step=step,
                statements=numbers,
                reason=found.reason,
                confidence=found.confidence,
            )
        )
    used = {n for s in sentences for n in s.statements}
    return Answer(
        query=inputs.query,
        sentences=tuple(sentences),
        statements=graph,
        plan=plan,
        disagreements=disagreements_of_statements(inputs, graph, used) if graph else (),
        namesakes=namesakes_of_statements(inputs, graph, used) if graph else (),
    )


def _citations(inputs: AnswerInputs, text: str, chunks: Collection[str]) -> Iterator[Citation]:
    """Where a sentence of a draft cites these chunks (ids), each place once."""
    for at, number in dict.fromkeys(place_references(text, chunks=len(inputs.chunks))):
        if (chunk_id := inputs.chunks[number - 1].id) in chunks:
            yield Citation(at=at, chunk_id=chunk_id)


def _evidence(
    inputs: AnswerInputs, sentence: _DraftSentence, found: _TracedSentence, quoted: Sequence[EvidenceSpan]
) -> Sequence[EvidenceSpan]:
    """The quotations of the statements that a sentence tells, and the places found in other chunks, each with its lead;
    for a sentence that is quoted itself, only its own words.
    """
    if found.support is Support.QUOTED:
        return [*_found_evidence(inputs, sentence, found, ())]
    return [*add_leads([*quoted, *_found_evidence(inputs, sentence, found, quoted)], inputs)]


def _found_evidence(
    inputs: AnswerInputs, sentence: _DraftSentence, found: _TracedSentence, quoted: Sequence[EvidenceSpan]
) -> Iterator[EvidenceSpan]:
    """The places of a sentence in chunks of which no quotation is its evidence, and the repair of its citation."""
    covered = {e.chunk_id for e in quoted}
    for u in found.units:
        if (chunk := inputs.chunks[u.chunk - 1]).id not in covered:
            for span in (u.span, *found.around, *(u.read_with if sentence.bare.startswith(u.prefix) else ())):
                yield EvidenceSpan.of(chunk, span, is_context=span != u.span)
    if found.check.repair:
        yield from (e for e in quoted_spans(inputs, [found.check.repair]) if e not in quoted)


def _step(
    planned: Sequence[PlanStep], sentence: _DraftSentence, found: _TracedSentence, told: Sequence[int], passed: int
) -> int | None:
    """The plan step that a sentence carries out: by the statements that it tells, else by its evidence."""
    if any(step.statements for step in planned):
        return step_telling(planned, told, passed)
    is_found = found.support in (Support.QUOTED, Support.SUPPORTED)
    return _step_citing(planned, sentence, found.units if is_found else (), passed)


def _step_citing(
    planned: Sequence[PlanStep], sentence: _DraftSentence, units: tuple[Sentence, ...], passed: int
) -> int | None:
    """The plan step that cites the sentence's evidence; if there are several, the first one not yet passed."""
    exact = {(u.chunk, u.number) for u in units}
    chunks = {u.chunk for u in units} or sentence.cited
    scores: list[tuple[bool, bool, int]] = []
    for i, step in enumerate(planned):
        ranges = [(r.chunk, r.first, r.last) for r in step.references if r.first and r.last]
        is_exact = any(c == chunk and first <= n <= last for chunk, first, last in ranges for c, n in exact)
        if is_exact or any(r.chunk in chunks for r in step.references if not r.first):
            scores.append((is_exact, i > passed, -i))
    return -max(scores)[2] if scores else None


def check_draft(inputs: AnswerInputs, draft: str) -> Outcome[Answer]:
    """The draft as an answer whose sentences were checked without a model.

    None is quoted or judged. The quotations of statements, if there are any, are their only evidence.
    """
    drafts = _split_draft(draft, len(inputs.chunks), {})
    checker = Checker(inputs)
    checks = [checker.check(d.bare, d.cited) for d in drafts]
    answer = _answer(inputs, drafts, [_TracedSentence(c.support, c.reason, check=c) for c in checks])
    return Outcome(value=answer, counts=_counts(checks))


async def trace_draft(
    verifier: Verifier, inputs: AnswerInputs, draft: str, store: Store, scope: Scope
) -> Outcome[Answer]:
    """The verifier's answer. Its evidence is always text of documents, even if the draft cites summaries.

    With a graph, the answer also has disagreements between its sources that the last audit of the corpus found.

    Raises:
        ModelError: A model of the verifier failed.
    """
    if any(chunk.stands_for for chunk in inputs.chunks):
        below, draft = await asyncio.to_thread(replace_summaries, inputs, draft, store, scope)
        outcome = await verifier.verify(below, draft)
        outcome = outcome.holding(outcome.value.model_copy(update={"plan": plan_with_steps(inputs)}))
    else:
        outcome = await verifier.verify(inputs, draft)
    if inputs.graph is None:
        return outcome
    answer = outcome.value
    evidence = [e for sentence in answer.sentences for e in sentence.evidence]
    stored = await asyncio.to_thread(stored_disagreements, evidence, store, scope)
    known = {frozenset((d.a.chunk_id, d.b.chunk_id)) for d in answer.disagreements}
    others = [d for d in stored if frozenset((d.a.chunk_id, d.b.chunk_id)) not in known]
    return outcome.holding(answer.model_copy(update={"disagreements": (*answer.disagreements, *others)}))
