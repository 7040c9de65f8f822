"""One system's answer to one question: the answer graph under switches, or the lead baseline."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from discorag import DiscoRAG
from discorag.retrieval.registry import tree_retriever
from discorag.schema.answer import Answer
from discorag.schema.document import Chunk
from discorag.schema.errors import ModelRejectedError, ModelUnavailableError, RateLimitedError
from discorag.schema.values import Span
from eval.errors import DataError
from eval.metrics.grounding import reached
from eval.running.branches import Branches
from eval.running.corpus import Corpus
from eval.running.lost import trace
from eval.running.record import Lost, Record
from eval.sample import DocSpan, Sample
from eval.suite import Suite, System
from interfaces.results import AskResult
from nodes.context import AnswerContext
from nodes.state import AnswerInput

LEAD = 6
"""Sentences of the lead baseline: as many as an extractive answer has units."""
DEAD = {c.__name__ for c in (ModelUnavailableError, RateLimitedError, ModelRejectedError)}
"""Failures that say nothing about the system: the run stops, and can be resumed."""


class Answerer:
    """Answers the questions of one suite.

    Args:
        suite: Retrieval settings.
        corpus: The documents as ingested.
        rag: The pipeline.
    """

    def __init__(self, suite: Suite, corpus: Corpus, rag: DiscoRAG) -> None:
        self._suite, self._corpus, self._rag = suite, corpus, rag
        self._branches = Branches()

    async def answer(self, sample: Sample, system: System) -> Record:
        """The record, not scored yet. A system that branches off needs the run of ``full`` before it.

        Raises:
            ModelUnavailableError: The endpoint died; a stand-in's answer would not be the system's.
            DiscoRagError: This question cannot be answered.
        """
        if system.kind == "lead":
            return await asyncio.to_thread(self._lead, sample, system)
        if system.baseline:
            return await self._baseline(sample, system)
        context = AnswerContext(backends=self._rag.backends, **self._switches(system))
        if system.again:
            result = await self._branches.again(sample.id, before=system.again, context=context)
        else:
            result = await self._branches.run(_thread(sample, system), self._asked(sample, system), context)
            if system.name != "full":
                await self._branches.forget(_thread(sample, system))
        _stop_if_dead(result)
        return await asyncio.to_thread(self._told, sample, system, result)

    async def _baseline(self, sample: Sample, system: System) -> Record:
        asked = self._asked(sample, system)
        result = await self._rag.aask(
            asked["query"],
            instruction=asked.get("instruction", ""),
            filters=asked.get("filters"),
            baseline=system.baseline,
            **self._switches(system),
        )
        _stop_if_dead(result)
        return await asyncio.to_thread(self._told, sample, system, result)

    async def forget(self, sample: Sample) -> None:
        """Drop the run of ``full`` that branches start from."""
        await self._branches.forget(sample.id)

    def _switches(self, system: System) -> dict[str, Any]:
        suite = self._suite
        common = {
            "corpus": self._corpus.name,
            "answer_tokens": suite.answer_tokens,
            "detail": suite.detail,
            "layout": "inline",
        }
        retriever = system.options.get("retriever")
        chunks = {} if retriever and tree_retriever(retriever) else {"top_k": suite.top_k, "rerank": False}
        local = {} if self._rag.backends.model else {"relater": suite.relater}
        return {**common, **chunks, **local, **system.switches}

    def _asked(self, sample: Sample, system: System) -> AnswerInput:
        own = system.own or self._suite.retrieval == "own"
        ids = [self._corpus.stored[d] for d in sample.documents] if own else []
        if own and not ids:
            raise DataError(f"Question {sample.id} has no documents of its own.", hint="Use a pooled suite.")
        filters = {"doc_id": ids} if own else {}
        return AnswerInput(query=sample.query, instruction=sample.instruction, filters=filters)

    def _told(self, sample: Sample, system: System, result: AskResult) -> Record:
        """The record of an answer, with where gold evidence was lost."""
        answer, scope = result.answer, self._rag.scope(corpus=self._corpus.name)
        trees = system.options.get("use_tree", True)
        chunks = self._rag.backends.store.chunks(scope, [h.chunk_id for h in result.hits])
        chunks = [c for c in chunks if not c.stands_for]  # summaries have no place in a document
        chunks = chunks if trees else [c.model_copy(update={"tree": None}) for c in chunks]
        used = tuple(
            DocSpan(doc=self._corpus.known[e.doc_id], span=e.span) for s in answer.sentences for e in s.evidence
        )
        plan = answer.plan.paragraph if answer.plan else None
        lost = trace(sample, corpus=self._corpus, chunks=chunks, plan=plan, draft=result.draft, used=used)
        return Record(
            sample=sample.id,
            system=system.name,
            answer=answer.text,
            evidence=tuple(self._corpus.place(c) for c in chunks),
            used=used,
            plan=plan or "",
            edges=len(result.graph.edges) if result.graph else None,
            disagreements=len(answer.disagreements),
            unsupported=_unsupported(answer),
            lost=lost,
            found=len(sample.gold) - len(lost),
            ledger=result.ledger,
            seconds=result.seconds,
        )

    def _lead(self, sample: Sample, system: System) -> Record:
        """The first sentences of the question's own documents, in their order."""
        start = time.perf_counter()
        scope, store = self._rag.scope(corpus=self._corpus.name), self._rag.backends.store
        spans: list[tuple[Chunk, Span]] = []
        for doc in sample.documents:
            chunks = store.chunks_of(scope, self._corpus.stored[doc])
            spans += [(c, s) for c in chunks for s in c.sentences if not c.slice(s).startswith("#")]
            if len(spans) >= LEAD:
                break
        spans = spans[:LEAD]
        used = tuple(DocSpan(doc=self._corpus.known[c.doc_id], span=s) for c, s in spans)
        lost = tuple(Lost(label=g.label, stage="retrieve") for g in sample.gold if not reached(g, used))
        text = " ".join(" ".join(c.slice(s).split()) for c, s in spans)
        seconds = time.perf_counter() - start
        return Record(
            sample=sample.id,
            system=system.name,
            answer=text,
            evidence=used,
            used=used,
            lost=lost,
            found=len(sample.gold) - len(lost),
            seconds=seconds,
        )


def _unsupported(answer: Answer) -> float | None:
    """Share of the sentences that are not supported or not verified; None for no sentence."""
    return sum(not s.supported for s in answer.sentences) / len(answer.sentences) if answer.sentences else None


def _thread(sample: Sample, system: System) -> str:
    """The thread of the full run is named by the question, so that branches find it."""
    return sample.id if system.name == "full" else f"{sample.id}\x00{system.name}"


def _stop_if_dead(result: AskResult) -> None:
    """Raises `ModelUnavailableError` if an endpoint failed for good: a stand-in's answer is not the system's."""
    for failure in result.ledger.failures:
        if failure.kind in DEAD:
            raise ModelUnavailableError(
                f"Stage {failure.stage}: {failure.message}", hint="Mend the endpoint and run the same command again."
            )
