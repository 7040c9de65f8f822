"""The pipeline as one object: ingest, ask, look; async methods and their sync twins."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from time import perf_counter
from typing import Any, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from discorag.ingest.estimate import Estimate, estimate
from discorag.ingest.survey import NOT_MADE, DocumentOutcome, survey
from discorag.models.protocol import Message
from discorag.rst.parser import PROMPTED
from discorag.settings import Settings
from discorag.store.protocol import Corpus, Hit, Manifest
from discorag.types.answer import Answer
from discorag.types.document import Scope
from discorag.types.errors import InputError, MissingPathError
from discorag.types.graph import RhetoricalGraph
from discorag.types.ledger import Ledger, StageRecord
from graphs import answer as answer_graph
from graphs.answer import Graph
from graphs.background import BackgroundLoop
from graphs.baselines import BASELINES
from graphs.ingest import run_ingest
from nodes.context import AnswerContext, IngestContext
from nodes.resources import Resources
from nodes.state import AnswerInput

T = TypeVar("T")
Progress = Callable[[dict[str, Any]], None]


class AskResult(BaseModel):
    """An answer with everything that led to it. ``draft`` has the citations; ``seconds`` is wall time.

    Example:
        >>> _ = rag.ingest(notes, parser="rules")
        >>> result = rag.ask("Does vitamin D lower the risk of influenza?")
        >>> [sentence.evidence[0].title for sentence in result.answer.sentences]
        ['review', 'trial']
        >>> [str(found.relation) for found in result.answer.disagreements], len(result.ledger.failures)
        (['CONTRADICTS'], 0)
    """

    model_config = ConfigDict(frozen=True)

    answer: Answer
    hits: tuple[Hit, ...]
    graph: RhetoricalGraph | None
    draft: str
    ledger: Ledger
    seconds: float

    @classmethod
    def of(cls, state: Mapping[str, Any], seconds: float) -> Self:
        """The result that a finished run of the answer graph left in its state."""
        return cls(
            answer=Answer.model_validate(state["answer"]),
            hits=tuple(Hit(**h) for h in state["hits"]),
            graph=RhetoricalGraph.model_validate(state["graph"]) if state.get("graph") else None,
            draft=state.get("draft", ""),
            ledger=_ledger(state["ledger"]),
            seconds=seconds,
        )

    def __str__(self) -> str:
        return self.answer.text


class IngestResult(BaseModel):
    """What became of every document, and what it cost. ``seconds`` is wall time; documents run side by side.

    Example:
        >>> result = rag.ingest(notes, parser="rules")
        >>> [outcome.status.value for outcome in result.outcomes], len(result.ledger.failures)
        (['added', 'added'], 0)
    """

    model_config = ConfigDict(frozen=True)

    outcomes: tuple[DocumentOutcome, ...]
    ledger: Ledger
    seconds: float


class DiscoRAG:
    """Discourse-aware retrieval-augmented generation over your documents.

    Args:
        settings: Configuration; default: environment and ``disco-rag.toml``.
        resources: Opened resources, if you manage them yourself; then ``settings`` is not used.

    Raises:
        DiscoRagError: On opening, see `nodes.resources.Resources.open`.

    Use it as a context manager, or call `close`. Keyword arguments of `ask` and `ingest` are the switches of
    `nodes.context.AnswerContext` and `IngestContext`.

    Example:
        >>> from discorag.settings import Settings, StoreSettings
        >>> from discorag import DiscoRAG
        >>> with DiscoRAG(Settings(store=StoreSettings(kind="memory"))) as rag:
        ...     _ = rag.ingest(notes, parser="rules")
        ...     for sentence in rag.ask("Does vitamin D lower the risk of influenza?").answer.sentences:
        ...         print(sentence.text)
        Vitamin D did not lower the risk of influenza.
        By contrast, Vitamin D lowered the risk of influenza by 12 % in schoolchildren.
    """

    def __init__(self, settings: Settings | None = None, *, resources: Resources | None = None) -> None:
        self.resources = resources or Resources.open(settings)
        self._loop: BackgroundLoop | None = None

    async def aask(
        self,
        query: str,
        *,
        instruction: str = "",
        history: Sequence[Message] = (),
        filters: dict[str, list[str]] | None = None,
        baseline: str | None = None,
        **switches: Any,
    ) -> AskResult:
        """Answer a question.

        Args:
            query: The question.
            instruction: How to answer (format, length, options); it is not searched for.
            history: The conversation before the question; a language model makes a question of both.
            filters: Metadata key -> accepted values.
            baseline: One of `graphs.baselines.BASELINES` in the place of the pipeline.
            **switches: Fields of `AnswerContext`.

        Raises:
            InputError: Empty or too long query, unknown or impossible switch, nothing to retrieve from.
        """
        context, start = self.context(AnswerContext, _over_chunks(baseline) | switches), perf_counter()
        state = await _graph(baseline).ainvoke(
            _asked(query, instruction, history, filters), context=context, output_keys=list(_SHOWN)
        )
        return AskResult.of(state, perf_counter() - start)

    async def astream(
        self,
        query: str,
        *,
        instruction: str = "",
        history: Sequence[Message] = (),
        filters: dict[str, list[str]] | None = None,
        baseline: str | None = None,
        **switches: Any,
    ) -> AsyncGenerator[dict[str, Any] | AskResult]:
        """Stage events and answer tokens as they come, at last the `AskResult`. Arguments as for `aask`."""
        context, start = self.context(AnswerContext, _over_chunks(baseline) | switches), perf_counter()
        state: dict[str, Any] = {}
        stream = _graph(baseline).astream(
            _asked(query, instruction, history, filters),
            context=context,
            stream_mode=["custom", "values"],
            output_keys=list(_SHOWN),
        )
        async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", stream)):
            async for mode, part in stream:
                event = cast("dict[str, Any]", part)
                if mode == "custom":
                    yield event
                else:
                    state = event
        yield AskResult.of(state, perf_counter() - start)

    async def aingest(self, path: str | Path, *, progress: Progress | None = None, **switches: Any) -> IngestResult:
        """Read a file or folder into the store: new and changed documents are stored, vanished ones deleted.

        Args:
            path: What to read.
            progress: Called with every progress event.
            **switches: Fields of `IngestContext`.

        Raises:
            InputError: Missing path, unknown format, unknown switch.
        """
        context, start = self.context(IngestContext, switches), perf_counter()
        state = await run_ingest(_given(path), context, progress)
        outcomes = tuple(DocumentOutcome.model_validate(o) for o in state["outcomes"])
        ledger = _ledger(state["ledger"])
        return IngestResult(outcomes=outcomes, ledger=ledger, seconds=perf_counter() - start)

    async def aestimate(
        self, path: str | Path, *, parser: str = "auto", tenant: str | None = None, corpus: str | None = None
    ) -> Estimate:
        """What `aingest` would do and cost, without storing anything. Raises as `aingest`."""
        deps, context = self.resources, self.context(IngestContext, {"parser": parser})
        parser = context.tree_engine(deps)
        found = await asyncio.to_thread(survey, _given(path))
        return await estimate(
            found,
            scope=self.scope(tenant=tenant, corpus=corpus),
            settings=deps.settings,
            store=deps.store,
            encoder=deps.bare_encoder,
            parser=deps.parser(parser).version if parser != NOT_MADE else NOT_MADE,
            calls=parser in PROMPTED,
        )

    def estimate(
        self, path: str | Path, *, parser: str = "auto", tenant: str | None = None, corpus: str | None = None
    ) -> Estimate:
        """Sync twin of `aestimate`."""
        return self.run(lambda: self.aestimate(path, parser=parser, tenant=tenant, corpus=corpus))

    def ask(
        self,
        query: str,
        *,
        instruction: str = "",
        history: Sequence[Message] = (),
        filters: dict[str, list[str]] | None = None,
        baseline: str | None = None,
        **switches: Any,
    ) -> AskResult:
        """Sync twin of `aask`."""
        return self.run(
            lambda: self.aask(
                query, instruction=instruction, history=history, filters=filters, baseline=baseline, **switches
            )
        )

    def ingest(self, path: str | Path, *, progress: Progress | None = None, **switches: Any) -> IngestResult:
        """Sync twin of `aingest`."""
        return self.run(lambda: self.aingest(path, progress=progress, **switches))

    def documents(self, *, tenant: str | None = None, corpus: str | None = None) -> list[Manifest]:
        """The stored documents of a scope."""
        return self.resources.store.manifests(self.scope(tenant=tenant, corpus=corpus))

    def corpora(self, *, tenant: str | None = None) -> list[Corpus]:
        """The corpora in which a tenant has documents, by name."""
        return self.resources.store.corpora(self.scope(tenant=tenant).tenant)

    def delete(self, doc_id: str, *, tenant: str | None = None, corpus: str | None = None) -> bool:
        """Delete a document; whether it was there."""
        return self.resources.store.delete(self.scope(tenant=tenant, corpus=corpus), doc_id)

    def scope(self, *, tenant: str | None = None, corpus: str | None = None) -> Scope:
        """Tenant and corpus, as given or as configured."""
        settings = self.resources.settings
        return Scope(tenant=tenant or settings.tenant, corpus=corpus or settings.corpus)

    def close(self) -> None:
        """Stop the sync twins' event loop and release the store."""
        if self._loop:
            self._loop.close()
            self._loop = None
        self.resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run on one event loop in a thread of its own. Ctrl-C stops the run; what it has stored stays."""
        self._loop = self._loop or BackgroundLoop()
        return self._loop.run(call)

    def context(self, kind: type[_C], switches: dict[str, Any]) -> _C:
        """The switches of a run over these resources. Raises `InputError` for one that is unknown or impossible."""
        if "resources" in switches:
            raise InputError("Switch resources: it is set by the facade.", hint="Pass it to DiscoRAG instead.")
        try:
            return kind(resources=self.resources, **switches)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(p) for p in first["loc"])
            raise InputError(
                f"Switch {name}: {first['msg']}.", hint=f"See {kind.__module__}.{kind.__name__}."
            ) from error


_C = TypeVar("_C", AnswerContext, IngestContext)
_SHOWN = ("answer", "hits", "graph", "draft", "ledger")


def _graph(baseline: str | None) -> Graph:
    if baseline is None:
        return answer_graph.graph
    if baseline not in BASELINES:
        raise InputError(f"There is no baseline {baseline!r}.", hint=f"There are {', '.join(BASELINES)}.")
    return BASELINES[baseline]


def _over_chunks(baseline: str | None) -> dict[str, Any]:
    """The paper's baselines retrieve chunks, unless told otherwise."""
    if baseline is None:
        return {}
    return {"retriever": "all" if baseline == "full-context" else "dense", "abstain": "never"}


def _asked(
    query: str, instruction: str, history: Sequence[Message], filters: dict[str, list[str]] | None
) -> AnswerInput:
    said = [{"role": turn.role, "content": turn.content} for turn in history]
    return {"query": query, "instruction": instruction, "history": said, "filters": filters or {}}


def _given(path: str | Path) -> Path:
    """The path, if it names something: an empty string would silently mean the current folder."""
    if not str(path).strip():
        raise MissingPathError("No path was given.", hint="Name a file or a folder; . is the current one.")
    return Path(path)


def _ledger(records: list[dict[str, Any]]) -> Ledger:
    return Ledger.merged(StageRecord.model_validate(r) for r in records)
