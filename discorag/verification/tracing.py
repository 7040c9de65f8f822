"""Each sentence of a draft with the spans that support it: what all verifiers share, whoever judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discorag.claims.alignment import Floats
from discorag.claims.units import Unit, UnitTable, folded, units_of, within_window
from discorag.disagreement.difference import differences
from discorag.disagreement.pairs import at_odds
from discorag.models.protocol import Encoder
from discorag.text.citations import references, steps, without_references
from discorag.text.reading import strip_markdown
from discorag.types.answer import Answer, AnswerSentence, Disagreement, EvidenceSpan
from discorag.types.case import Case
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import Edge
from discorag.types.plan import Plan
from discorag.types.span import Span
from discorag.types.usage import Usage
from discorag.verification.draft import drafted_sentences, is_heading
from discorag.verification.judge import Claim, Judge, Verdict
from discorag.verification.places import places_of, whole_sentence
from discorag.verification.verifier import Metered

Copies = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class _Drafted:
    """A sentence of a draft.

    Args:
        text: With citations.
        bare: As it is compared: without citations and markup.
    """

    text: str
    bare: str


@dataclass(frozen=True)
class _Traced:
    """The units that support a sentence, how sure that is, or why none does."""

    units: tuple[Unit, ...] = ()
    confidence: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class TracingVerifier:
    """Traces a draft to its sources. Implements `discorag.verification.verifier.Verifier`.

    A sentence that a unit says word for word is supported by it; all others are left to the judge, each with a few
    places where its support may stand: in the chunks that it cites, and in all others.

    Args:
        encoder: Gives the sentences' vectors.
        judge: Decides.

    Example:
        >>> from discorag.verification.local import LocalJudge
        >>> from discorag.verification.tracing import TracingVerifier
        >>> draft = "Vitamin D lowered the risk of influenza by 12 % [1]. It lowered it by 21 % [1]."
        >>> answer = asyncio.run(TracingVerifier(encoder, LocalJudge()).verify(case, draft))
        >>> [(sentence.supported, sentence.reason) for sentence in answer.sentences]
        [(True, ''), (False, 'The number 21 % is not in the evidence.')]
    """

    encoder: Encoder
    judge: Judge

    @property
    def usage(self) -> Usage:
        """What the judge's calls of a language model have cost so far."""
        return self.judge.usage if isinstance(self.judge, Metered) else Usage()

    @property
    def prompt_hash(self) -> str:
        """Digest of the judge's prompt file; empty if it asked nothing."""
        return self.judge.prompt_hash if isinstance(self.judge, Metered) else ""

    async def verify(self, case: Case, draft: str) -> Answer:
        """The verified answer.

        Args:
            case: With the chunks, graph and plan that the draft was made from.
            draft: Text whose sentences cite chunks as ``[2]`` or units as ``[2.3]``.

        Raises:
            ModelError: The encoder or the judge is an endpoint and fails.
        """
        table = await units_of(case, self.encoder)
        copies = _copies(table)
        drafts = _drafted(draft, len(case.chunks), copies)
        traced = [_at_once(d, case, table, copies) for d in drafts]
        open_ = [i for i, found in enumerate(traced) if found is None]
        claims = await self._claims([drafts[i] for i in open_], table)
        judged = await self.judge.judge([c for c in claims if c.places])
        verdicts = iter(judged)
        for i, claim in zip(open_, claims, strict=True):
            traced[i] = _of(claim, next(verdicts), table) if claim.places else _Traced(reason=_NOTHING)
        return _answer(case, table, drafts, [t or _Traced(reason=_NOTHING) for t in traced])

    async def _claims(self, drafts: Sequence[_Drafted], table: UnitTable) -> list[Claim]:
        """Each sentence with its places; those that it cites come first."""
        vectors = await self.encoder.encode_documents(within_window([d.bare for d in drafts], self.encoder))
        return [_claim(d, table, table.vectors @ vector) for d, vector in zip(drafts, vectors, strict=True)]


_NOTHING = "No passage shares its content."


def _copies(table: UnitTable) -> Copies:
    """Each form in which an answer may copy a unit, with or without what it is read with: the units."""
    found: dict[str, list[int]] = {}
    for i, unit in enumerate(table.units):
        for form in {unit.folded, folded(unit.body)}:
            found.setdefault(form, []).append(i)
    return found


def _drafted(draft: str, chunks: int, copies: Copies) -> list[_Drafted]:
    """The sentences of a draft; a line that is a whole unit is one, whatever full stops it has inside."""
    texts = [s for line in draft.splitlines() for s in _sentences(line, chunks, copies)]
    return [_Drafted(s, _bare(s, chunks, copies)) for s in texts]


def _sentences(line: str, chunks: int, copies: Copies) -> list[str]:
    return [line] if _is_copy(line, chunks, copies) else drafted_sentences(line, chunks)


def _is_copy(sentence: str, chunks: int, copies: Copies) -> bool:
    return folded(without_references(sentence, chunks=chunks).strip()) in copies


def _bare(sentence: str, chunks: int, copies: Copies) -> str:
    bare = without_references(sentence, chunks=chunks).strip()
    return bare if _is_copy(sentence, chunks, copies) else strip_markdown(bare)


def _at_once(sentence: _Drafted, case: Case, table: UnitTable, copies: Copies) -> _Traced | None:
    """What needs no judge: headings, and what a unit says word for word; cited units first, then cited chunks."""
    if is_heading(without_references(sentence.text, chunks=len(case.chunks)), case):
        return _Traced(reason="It is a heading, which asserts nothing.")
    cited = references(sentence.text)
    same = [table.units[i] for i in copies.get(folded(sentence.bare), ()) if _whole(i, table)]
    if not same:
        return None
    exact, chunks = {(r.chunk, r.first) for r in cited}, {r.chunk for r in cited}
    return _Traced((min(same, key=lambda u: ((u.chunk, u.number) not in exact, u.chunk not in chunks)),), 1.0)


def _whole(i: int, table: UnitTable) -> bool:
    """Whether unit ``i`` is all of its sentence."""
    return whole_sentence(i, table) == (i, i)


def _claim(sentence: _Drafted, table: UnitTable, cosine: Floats) -> Claim:
    cited = {r.chunk for r in references(sentence.text)}
    inside = [i for i, u in enumerate(table.units) if u.chunk in cited]
    outside = [i for i, u in enumerate(table.units) if u.chunk not in cited]
    found = [p for part in (inside, outside) for p in places_of(sentence.bare, part, table, cosine)]
    return Claim(sentence.bare, tuple(found))


def _of(claim: Claim, verdict: Verdict, table: UnitTable) -> _Traced:
    if not verdict.supported:
        return _Traced((), round(verdict.probability, 3), verdict.reason)
    units = dict.fromkeys(i for p in verdict.places for i in claim.places[p].units)
    return _Traced(tuple(table.units[i] for i in units), round(verdict.probability, 3))


def _answer(case: Case, table: UnitTable, drafts: Sequence[_Drafted], traced: Sequence[_Traced]) -> Answer:
    sentences: list[AnswerSentence] = []
    passed = -1  # the last plan step carried out
    for sentence, found in zip(drafts, traced, strict=True):
        step = _step(case.plan, sentence.text, found.units, passed)
        passed = max(passed, -1 if step is None else step)
        made = AnswerSentence(
            text=without_references(sentence.text, chunks=len(case.chunks)).strip(),
            evidence=tuple(_evidence(case, u.chunk, u.span) for u in found.units),
            step=step,
            reason=found.reason,
            confidence=found.confidence,
        )
        sentences.append(made)
    at_odds = _disagreements(case, table, {e.chunk_id for s in sentences for e in s.evidence})
    return Answer(query=case.query, sentences=tuple(sentences), disagreements=at_odds, plan=case.plan)


def _evidence(case: Case, number: int, span: Span) -> EvidenceSpan:
    return EvidenceSpan.of(case.chunks[number - 1], span)


def _step(plan: Plan | None, draft: str, units: tuple[Unit, ...], passed: int) -> int | None:
    """The plan step that cites what the sentence rests on; of several, the first not yet passed."""
    if plan is None:
        return None
    exact = {(u.chunk, u.number) for u in units}
    chunks = {u.chunk for u in units} or {r.chunk for r in references(draft)}
    scores: list[tuple[int, bool, int]] = []
    for i, step in enumerate(steps(plan)):
        hit = max((_match(r.chunk, r.first, r.last, exact, chunks) for r in step.references), default=0)
        if hit:
            scores.append((hit, i > passed, -i))
    return -max(scores)[2] if scores else None


def _match(chunk: int, first: int | None, last: int | None, exact: set[tuple[int, int]], chunks: set[int]) -> int:
    """2 for a cited unit, 1 for a cited chunk, 0 for neither."""
    if first is not None and last is not None:
        return 2 if any(c == chunk and first <= n <= last for c, n in exact) else 0
    return 1 if chunk in chunks else 0


def _told(used: set[str], edge: Edge) -> bool:
    """Whether a disagreement is reported, of whose two sides the answer rests on those ``used``."""
    return (edge.disagrees and len(used) == 2) or (edge.outdates and bool(used))


def _disagreements(case: Case, table: UnitTable, used: set[str]) -> tuple[Disagreement, ...]:
    """What is at odds between chunks of different documents that the answer rests on.

    Of two versions of one document it is enough that it rests on either.
    """
    if case.graph is None:
        return ()
    found: dict[frozenset[str], Disagreement] = {}
    for edge in case.graph.edges:
        i, j = case.number(edge.target), case.number(edge.source)
        apart = case.chunks[i - 1].doc_id != case.chunks[j - 1].doc_id
        if apart and _told({edge.source, edge.target} & used, edge):
            a, b = at_odds(edge, table, i, j)
            both = Disagreement(
                relation=edge.relation,
                a=_evidence(case, i, table.units[a].span),
                b=_evidence(case, j, table.units[b].span),
                differs=differences(table.units[a].text, table.units[b].text),
                confidence=edge.confidence,
            )
            found.setdefault(frozenset({edge.source, edge.target}), both)
    order = (ChunkRelation.CONTRADICTS, ChunkRelation.CONTRASTS_WITH, ChunkRelation.REPLACES)
    return tuple(sorted(found.values(), key=lambda d: order.index(d.relation)))
