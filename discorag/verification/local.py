"""Verification: each sentence of an answer gets the spans that support it, or is marked unsupported.

The spans are the units that together hold most of the sentence's words and numbers; whether they support it is for
`discorag.verification.objection` to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from discorag.answer.realisation import CONNECTIVES
from discorag.claims.units import Unit, UnitTable, folded, units_of, within_window
from discorag.disagreement.pairs import at_odds
from discorag.models.protocol import Encoder
from discorag.models.toolbox import Toolbox
from discorag.text.citations import references, steps, without_references
from discorag.text.reading import plain
from discorag.types.answer import Answer, AnswerSentence, Disagreement, EvidenceSpan
from discorag.types.case import Case
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.plan import Plan
from discorag.types.span import Span
from discorag.verification.draft import drafted_sentences, is_heading
from discorag.verification.objection import anchors, objection

SPANS = 3  # spans that may support one sentence together
_CONNECTIVES = tuple(c for pair in CONNECTIVES.values() for c in pair)


@dataclass(frozen=True)
class _Judgement:
    units: tuple[Unit, ...] = ()
    reason: str = ""


def local_verifier(tools: Toolbox) -> LocalVerifier:
    """For the registry."""
    return LocalVerifier(tools.encoder)


@dataclass(frozen=True)
class LocalVerifier:
    """Traces a draft to its sources.

    Example:
        >>> from discorag.verification.local import LocalVerifier
        >>> draft = "Vitamin D lowered the risk of influenza by 12 % [1]. It lowered it by 21 % [1]."
        >>> answer = asyncio.run(LocalVerifier(encoder).verify(case, draft))
        >>> [(sentence.supported, sentence.reason) for sentence in answer.sentences]
        [(True, ''), (False, 'The number 21 % is not in the evidence.')]
    """

    encoder: Encoder

    async def verify(self, case: Case, draft: str) -> Answer:
        """The verified answer.

        Args:
            case: With the chunks, graph and plan that the draft was made from.
            draft: Text whose sentences cite chunks as ``[2]`` or units as ``[2.3]``.

        Raises:
            ModelError: The encoder is an endpoint and fails.
        """
        table = await units_of(case, self.encoder)
        k = len(case.chunks)
        copies = {folded(text) for unit in table.units for text in (unit.plain, unit.body)}
        drafts = [s for line in draft.splitlines() for s in _drafted(line, k, copies)]
        bare = [_stripped(s, k, copies) for s in drafts]
        vectors = await self.encoder.encode_documents(within_window(bare, self.encoder))
        sentences: list[AnswerSentence] = []
        passed = -1  # the last plan step carried out
        for text, plain_text, vector in zip(drafts, bare, vectors, strict=True):
            if is_heading(without_references(text, chunks=k), case):
                judged = _Judgement(reason="It is a heading, which asserts nothing.")
            else:
                judged = _judge(plain_text, {r.chunk for r in references(text)}, table, table.vectors @ vector)
            evidence = tuple(_evidence(case, u.chunk, u.span) for u in judged.units)
            step = _step(case.plan, text, judged.units, passed)
            passed = max(passed, -1 if step is None else step)
            shown = without_references(text, chunks=k).strip()
            sentences.append(AnswerSentence(text=shown, evidence=evidence, step=step, reason=judged.reason))
        found = _disagreements(case, table, {e.chunk_id for s in sentences for e in s.evidence})
        return Answer(query=case.query, sentences=tuple(sentences), disagreements=found, plan=case.plan)


def _drafted(line: str, chunks: int, copies: set[str]) -> list[str]:
    """The sentences of a line; one, if the whole of it is a unit, whatever full stops it has inside."""
    return [line] if _is_copy(line, chunks, copies) else drafted_sentences(line, chunks)


def _is_copy(sentence: str, chunks: int, copies: set[str]) -> bool:
    return folded(_unlinked(without_references(sentence, chunks=chunks).strip())) in copies


def _stripped(sentence: str, chunks: int, copies: set[str]) -> str:
    """A sentence as it is compared: without citations, connectives of ours and, unless a unit has it so, markup."""
    bare = without_references(sentence, chunks=chunks).strip()
    return _unlinked(bare if _is_copy(sentence, chunks, copies) else plain(bare))


def _unlinked(text: str) -> str:
    opening = next((c for c in _CONNECTIVES if text.startswith(c)), "")
    return text[len(opening) :].strip() or text


def _judge(sentence: str, cited: set[int], table: UnitTable, cosine: np.ndarray) -> _Judgement:
    """The best support among the cited chunks, else among all: a wrong citation is corrected, not believed."""
    inside = [i for i, u in enumerate(table.units) if u.chunk in cited]
    first = _supported(sentence, inside, table, cosine) if inside else _Judgement()
    if first.units:
        return first
    return _supported(sentence, list(range(len(table.units))), table, cosine)


def _supported(sentence: str, candidates: list[int], table: UnitTable, cosine: np.ndarray) -> _Judgement:
    said = folded(sentence)
    for i in candidates:
        if said in table.units[i].folded and _verbatim(sentence, table.units[i]):
            return _Judgement((table.units[i],))
    best = _gather(sentence, candidates, table, cosine)
    if not best:
        return _Judgement(reason="No passage shares its content.")
    units = tuple(table.units[i] for i in best)
    sources = tuple(dict.fromkeys(_whole_sentence(i, table) for i in best))
    reason = objection(sentence, sources, cosine=float(max(cosine[i] for i in best)))
    return _Judgement(reason=reason) if reason else _Judgement(units)


def _verbatim(sentence: str, unit: Unit) -> bool:
    """Whether the unit says the sentence word for word, as a whole or as a part that loses no number and no "not"."""
    said = folded(sentence)
    if said in {unit.folded, folded(unit.body)}:
        return True
    part = len(said) > 20 and re.search(rf"(?<!\w){re.escape(said)}(?!\w)", unit.folded) is not None
    return part and not objection(sentence, (unit.plain,), cosine=1.0)


def _whole_sentence(i: int, table: UnitTable) -> str:
    """The sentence around unit ``i``, which may be a part of one: who says it, or under which condition."""
    first, last = i, i
    while first > 0 and _continues(table.units[first - 1], table.units[first]):
        first -= 1
    while last + 1 < len(table.units) and _continues(table.units[last], table.units[last + 1]):
        last += 1
    return " ".join(u.plain for u in table.units[first : last + 1])


def _continues(unit: Unit, then: Unit) -> bool:
    """Whether ``then`` goes on with the sentence of ``unit``."""
    return unit.chunk == then.chunk and not unit.statement and then.text[:1].islower()


def _gather(sentence: str, candidates: list[int], table: UnitTable, cosine: np.ndarray) -> list[int]:
    """Up to `SPANS` units that together hold most of the sentence's content words, best first."""
    wanted = anchors(sentence)
    chosen: list[int] = []
    while len(chosen) < SPANS and wanted:
        gains = [(len(wanted & anchors(table.units[i].plain)), float(cosine[i]), -i) for i in candidates]
        gain, _, negative = max(gains, default=(0, 0.0, 0))
        if gain == 0:
            break
        chosen.append(-negative)
        wanted = wanted - anchors(table.units[-negative].plain)
    return chosen


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


def _disagreements(case: Case, table: UnitTable, used: set[str]) -> tuple[Disagreement, ...]:
    """CONTRADICTS and CONTRASTS_WITH between chunks of different documents that the answer rests on."""
    if case.graph is None:
        return ()
    found: dict[frozenset[str], Disagreement] = {}
    for edge in case.graph.edges:
        i, j = case.number(edge.target), case.number(edge.source)
        apart = case.chunks[i - 1].doc_id != case.chunks[j - 1].doc_id
        if edge.disagrees and apart and {edge.source, edge.target} <= used:
            a, b = at_odds(edge, table, i, j)
            both = Disagreement(
                relation=edge.relation,
                a=_evidence(case, i, table.units[a].span),
                b=_evidence(case, j, table.units[b].span),
            )
            found.setdefault(frozenset({edge.source, edge.target}), both)
    order = {ChunkRelation.CONTRADICTS: 0, ChunkRelation.CONTRASTS_WITH: 1}
    return tuple(sorted(found.values(), key=lambda d: order[d.relation]))
