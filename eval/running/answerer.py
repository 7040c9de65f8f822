"""One system's answer to one question: by the answer graph under switches, or by a baseline."""

import asyncio
import time
from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import Any

from discorag import DiscoRAG
from discorag.discourse.parse.inline import escape
from discorag.generation.prompted.paper import material, without_structure
from discorag.models.protocol import Message, Request
from discorag.retrieval.registry import tree_retriever
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk
from discorag.schema.errors import ModelRejectedError, ModelUnavailableError, RateLimitedError
from discorag.schema.ledger import Ledger, StageRecord
from discorag.schema.statements import StatementGraph, StatementPlan, format_plan
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from eval.controls.plans import fill, replace_hits
from eval.controls.statements import borrow_plan
from eval.errors import BudgetSpentError, DataError
from eval.perturb import FILLER, NOISE, ONLY_STATEMENTS, OTHER_PLAN, PERTURBATIONS
from eval.running.branches import Branches
from eval.running.corpus import Corpus
from eval.running.record import Record
from eval.sample import DocSpan, Sample
from eval.suite import Suite, System, find_system
from interfaces.results import AskResult
from nodes.context import AnswerContext
from nodes.inputs import collected_in, load_inputs
from nodes.state import AnswerInput, AnswerState, Json

LEAD = 6
"""Sentences of the lead baseline: as many as an extractive answer has units."""
NOISE_DOCUMENTS = 10
"""Documents from which noise is drawn, where there are so many."""
DEAD = {c.__name__ for c in (ModelUnavailableError, RateLimitedError, ModelRejectedError, BudgetSpentError)}
"""Failures that say nothing about the system: the run stops, and can be resumed."""


class Answerer:
    """Answers the questions of one suite.

    Args:
        suite: Retrieval settings.
        corpus: The documents as ingested.
        rag: The pipeline.
        samples: All questions: another one's plan is a control.
    """

    def __init__(self, suite: Suite, corpus: Corpus, rag: DiscoRAG, samples: Sequence[Sample] = ()) -> None:
        self._suite, self._corpus, self._rag, self._samples = suite, corpus, rag, samples
        self._branches = Branches()

    async def answer(self, sample: Sample, system: System) -> Record:
        """The record, not scored yet. A system that resumes another one's run needs that run before it.

        Raises:
            ModelUnavailableError: The endpoint died; a stand-in's answer would not be the system's.
            DiscoRagError: This question cannot be answered.
        """
        if system.kind == "lead":
            return await asyncio.to_thread(self._lead, sample, system)
        if system.kind == "closed-book":
            return await self._from_memory(sample, system)
        context, thread = self._context(system), _thread(sample, system)
        if system.baseline:
            result = await self._baseline(sample, system)
        elif system.again:
            update = await self._perturb(sample, system) if system.perturbation else None
            result = await self._branches.again(thread, before=system.again, context=context, update=update)
        else:
            result = await self._branches.run(thread, self._input_of(sample, system), context)
        _stop_if_dead(result)
        return await asyncio.to_thread(self._record_of, sample, system, result)

    async def inputs(self, sample: Sample, system: System) -> AnswerInputs:
        """What the answer of a system was written from: answers the question first. Raises as `answer`."""
        if system.of:
            await self.answer(sample, find_system(system.of))
        await self.answer(sample, system)
        context = await self._context(system).resolved()
        loaded = await load_inputs(await self._branches.state(_thread(sample, system)), context)
        await self.forget(sample, system.of or system.name)
        return loaded

    def _context(self, system: System) -> AnswerContext:
        return AnswerContext(backends=self._rag.backends, **self._switches(system))

    async def _perturb(self, sample: Sample, system: System) -> Json:
        """The update of the state of the run that is resumed; the same for the same question, system and seed."""
        change, random = PERTURBATIONS[system.perturbation], Random(f"{self._suite.seed} {sample.id} {system.name}")
        state = await self._branches.first(_thread(sample, system))
        root = await self._context(find_system(system.of)).resolved()
        if system.perturbation == NOISE:
            hits = state.get("hits", [])
            others = await asyncio.to_thread(self._others, hits, sample, system, random)
            return {"hits": replace_hits(hits, others, random, system.rate)}
        inputs = await load_inputs(state, root)
        if root.has_statements:
            return await self._perturb_statements(state, inputs.statements, sample, system, random)
        if system.perturbation == OTHER_PLAN:
            return {"plan": (await self._state_for_another(sample, system)).get("plan")}
        if system.perturbation == FILLER:
            structure = self._count(material(inputs)) - self._count(material(without_structure(inputs)))
            return {"graph": None, "plan": fill(self._count, structure)}
        update: Json = {}
        if change.tree:
            trees = {c.id: change.tree(c, random, system.rate) for c in inputs.chunks}
            update["trees"] = {chunk: tree.model_dump(mode="json") for chunk, tree in trees.items()}
        if change.graph and inputs.graph:
            update["graph"] = change.graph(inputs.graph, random, system.rate).model_dump(mode="json")
        if change.plan and inputs.plan:
            steps = [span.of(inputs.plan.paragraph).strip() for span in sentence_spans(inputs.plan.paragraph)]
            update["plan"] = " ".join(change.plan(steps, random, system.rate))
        return update

    async def _perturb_statements(
        self, state: AnswerState, graph: StatementGraph | None, sample: Sample, system: System, random: Random
    ) -> Json:
        """The update where an answer is written from statements: it is written again, in a call of its own.

        A model that found no statements has answered from the passages; nothing of that is changed.
        """
        if graph is None:
            return {}
        change, update = PERTURBATIONS[system.perturbation], Json(at_once=None)
        collected = collected_in(state)
        plan = collected.plan if collected and state.get("plan") else None
        if change.statements:
            changed = change.statements(graph, random, system.rate)
            update["statements"] = changed.model_dump(mode="json")
        if system.perturbation == ONLY_STATEMENTS:
            update["plan"] = None
        elif system.perturbation == OTHER_PLAN:
            other = collected_in(await self._state_for_another(sample, system))
            if plan and other:
                update["plan"] = format_plan(borrow_plan(graph, plan, other.graph, other.plan))
        elif change.plan and plan:
            steps = tuple(change.plan(plan.steps, random, system.rate))
            update["plan"] = format_plan(StatementPlan(steps=steps))
        return update

    def _others(self, hits: list[Json], sample: Sample, system: System, random: Random) -> list[Json]:
        """Chunks that were not retrieved, of documents drawn from those that the system searches."""
        scope, store = self._rag.scope(corpus=self._corpus.name), self._rag.backends.store
        found = {hit["chunk_id"] for hit in hits}
        ids = self._input_of(sample, system).get("filters", {}).get("doc_id") or list(self._corpus.known)
        others: list[Json] = []
        for doc in random.sample(ids, len(ids)):
            left = [c.id for c in store.chunks_of(scope, doc) if c.id not in found]
            others += [{"chunk_id": id, "score": 0.0} for id in random.sample(left, min(len(left), len(hits)))]
            if len(others) >= NOISE_DOCUMENTS * len(hits):
                break
        return others

    def _count(self, text: str) -> int:
        return len(self._rag.backends.encoder.tokens.token_offsets([text])[0])

    async def _state_for_another(self, sample: Sample, system: System) -> AnswerState:
        """The state after the next question was answered. A cached reply of the language model is not paid again."""
        at = [s.id for s in self._samples].index(sample.id)
        other = self._samples[(at + 1) % len(self._samples)]
        if other.id == sample.id:
            raise DataError(f"Question {sample.id} is the only one: there is no other plan.", hint="Use --limit 2.")
        root = find_system(system.of).model_copy(update={"name": f"{system.of} for {sample.id}"})
        await self.answer(other, root)
        state = await self._branches.state(_thread(other, root))
        await self.forget(other, root.name)
        return state

    async def _baseline(self, sample: Sample, system: System) -> AskResult:
        asked = self._input_of(sample, system)
        return await self._rag.aask(
            asked["query"],
            instruction=asked.get("instruction", ""),
            filters=asked.get("filters"),
            baseline=system.baseline,
            **self._switches(system),
        )

    async def forget(self, sample: Sample, root: str) -> None:
        """Drop the run of the system ``root``, from which others branch off."""
        await self._branches.forget(f"{sample.id}\x00{root}")

    def _switches(self, system: System) -> dict[str, Any]:
        suite = self._suite
        common = {
            "corpus": self._corpus.name,
            "answer_tokens": suite.answer_tokens,
            "detail": suite.detail,
        }
        counts_chunks = suite.top_k and not tree_retriever(system.options.get("retriever", "dense"))
        return {**common, **({"top_k": suite.top_k} if counts_chunks else {}), **system.switches}

    def _input_of(self, sample: Sample, system: System) -> AnswerInput:
        own = system.own or self._suite.retrieval == "own"
        ids = [self._corpus.stored[d] for d in sample.documents] if own else []
        if own and not ids:
            raise DataError(f"Question {sample.id} has no documents of its own.", hint="Use a pooled suite.")
        filters = {"doc_id": ids} if own else {}
        return AnswerInput(query=sample.query, instruction=sample.instruction, filters=filters)

    def _record_of(self, sample: Sample, system: System, result: AskResult) -> Record:
        """The record of an answer, not scored yet."""
        answer, scope = result.answer, self._rag.scope(corpus=self._corpus.name)
        trees = system.options.get("use_tree", True)
        chunks = self._rag.backends.store.chunks(scope, [h.chunk_id for h in result.hits])
        chunks = [c for c in chunks if not c.stands_for]  # summaries have no place in a document
        chunks = chunks if trees else [c.model_copy(update={"tree": None}) for c in chunks]
        spans = [e for s in answer.sentences for e in s.evidence if not e.is_context]
        used = tuple(self._corpus.place(e.doc_id, e.span) for e in spans)
        return Record(
            sample=sample.id,
            system=system.name,
            answer=answer.text,
            evidence=tuple(place for c in chunks for place in self._read_of(c, result)),
            used=used,
            plan=answer.plan.paragraph if answer.plan else "",
            unsupported=fmean(not s.supported for s in answer.sentences) if answer.sentences else None,
            ledger=result.ledger,
            seconds=result.seconds,
        )

    def _read_of(self, chunk: Chunk, result: AskResult) -> list[DocSpan]:
        """What was read of a chunk: the evidence in it if a retriever over trees chose some, else all."""
        spans = result.evidence.get(chunk.id, (chunk.span,))
        return [self._corpus.place(chunk.doc_id, span) for span in spans]

    async def _from_memory(self, sample: Sample, system: System) -> Record:
        """What the reader knows without any document."""
        start, backends = time.perf_counter(), self._rag.backends
        model, template = backends.require_model(), backends.template("closed-book")
        prompt = template.render(question=escape(sample.query), instruction=escape(sample.instruction))
        turn, limit = Message(role="user", content=prompt), self._suite.answer_tokens
        reply = await model.complete(Request(stage="generate", messages=(turn,), parse=str, max_tokens=limit))
        stage = StageRecord(stage="generate", engine="llm", model=model.name, usage=reply.usage)
        seconds = time.perf_counter() - start
        answer, ledger = reply.text.strip(), Ledger(stages=(stage,))
        return Record(sample=sample.id, system=system.name, answer=answer, ledger=ledger, seconds=seconds)

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
        used = tuple(self._corpus.place(c.doc_id, s) for c, s in spans)
        text = " ".join(" ".join(c.slice(s).split()) for c, s in spans)
        seconds = time.perf_counter() - start
        return Record(sample=sample.id, system=system.name, answer=text, evidence=used, used=used, seconds=seconds)


def _thread(sample: Sample, system: System) -> str:
    """The thread of the run that the system starts or resumes."""
    return f"{sample.id}\x00{system.of or system.name}"


def _stop_if_dead(result: AskResult) -> None:
    """Raises `ModelUnavailableError` if an endpoint failed for good: a stand-in's answer is not the system's."""
    for failure in result.ledger.failures:
        if failure.kind in DEAD:
            raise ModelUnavailableError(
                f"Stage {failure.stage}: {failure.message}", hint="Repair the endpoint and run the same command again."
            )
