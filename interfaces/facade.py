"""The pipeline as one object: ingest, ask, audit; async methods and their sync twins."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

from discorag.config import Settings
from discorag.conflicts.audit import RULES
from discorag.ingest.texts import GivenText, write_texts
from discorag.models.loops import BackgroundLoop
from discorag.options import Resolved
from discorag.schema.document import Scope
from discorag.schema.errors import InputError, MissingPathError, NotFoundError
from discorag.store.findings import Findings
from discorag.store.records import NOT_MADE, Corpus, Manifest
from discorag.store.retrieval import nothing_in
from graphs import answer as answer_graph
from graphs.baselines import BASELINES, context_of
from graphs.ingest import run_ingest
from graphs.steps import Graph
from interfaces.audit import AuditReport, audit_corpus, compare_corpora, stored_audit
from interfaces.conversation import History, read_history
from interfaces.results import AskResult, IngestResult
from nodes.backends import Backends
from nodes.context import AnswerContext, IngestContext
from nodes.state import AnswerInput

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.language_models import BaseChatModel

T = TypeVar("T")
P = ParamSpec("P")
Progress = Callable[[dict[str, Any]], None]
EXAMPLES = Path(__file__).parents[1] / "examples"
"""The example corpora: next to ``interfaces``, in the repository and in the wheel."""


def _sync(method: Callable[Concatenate[DiscoRAG, P], Awaitable[T]]) -> Callable[Concatenate[DiscoRAG, P], T]:
    """The sync twin of an async method: the same signature and errors, run by `DiscoRAG.run`."""
    name = method.__name__

    @wraps(method)
    def twin(self: DiscoRAG, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.run(lambda: getattr(self, name)(*args, **kwargs))

    twin.__name__, twin.__qualname__ = name[1:], f"DiscoRAG.{name[1:]}"
    return twin


class DiscoRAG:
    """Discourse-aware retrieval-augmented generation over your documents.

    Args:
        settings: Configuration; default: environment and ``disco-rag.toml``.
        backends: Opened resources, if you manage them yourself; then nothing else is used.
        llm: The language model instead of the configured one: its name, as in DISCO_RAG_MODEL
            (``ollama:qwen3:8b``), or a chat model of LangChain.

    Raises:
        DiscoRagError: On opening, see `nodes.backends.Backends.open`.

    Use it as a context manager, or call `close`. Keyword arguments of `ask` and `ingest` are the options of
    `nodes.context.AnswerContext` and `IngestContext`.

    Example:
        >>> from discorag.config import Settings, StoreSettings
        >>> from discorag import DiscoRAG
        >>> with DiscoRAG(Settings(store=StoreSettings(kind="memory"))) as rag:
        ...     _ = rag.ingest(notes, parser="rules")
        ...     for sentence in rag.ask("Does vitamin D lower the risk of influenza?").answer.sentences:
        ...         print(sentence.text)
        Vitamin D did not lower the risk of influenza.
        Vitamin D lowered the risk of influenza by 12 % in schoolchildren.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        backends: Backends | None = None,
        llm: str | BaseChatModel | None = None,
    ) -> None:
        self.backends = backends or Backends.open(settings, llm=llm)
        self._loop: BackgroundLoop | None = None
        self._temporary: TemporaryDirectory[str] | None = None

    async def aask(
        self,
        query: str,
        *,
        instruction: str = "",
        history: History = (),
        filters: Mapping[str, Any] | None = None,
        baseline: str | None = None,
        **options: Any,
    ) -> AskResult:
        """Answer a question.

        Args:
            query: The question.
            instruction: How to answer (format, length, options); it is not searched for.
            history: The conversation before the question, as messages or earlier results; a language model makes a
                question of both. The passages that earlier results rest on are read again if they bear on it.
            filters: Metadata key -> a value, a list of accepted values, or a range of numbers or dates such as
                ``{"gte": 2020, "lt": 2025}``; all keys must match.
            baseline: One of `graphs.baselines.BASELINES` instead of the pipeline.
            **options: Fields of `AnswerContext`.

        Raises:
            InputError: Empty or too long query, unknown or impossible option or filter, nothing to retrieve from.
        """
        start = perf_counter()
        graph, given, context = await self._run_of(query, instruction, history, filters, baseline, **options)
        state = await graph.ainvoke(given, context=context, output_keys=_RESULT_KEYS)
        return AskResult.of(state, perf_counter() - start)

    async def astream(self, query: str, **arguments: Any) -> AsyncGenerator[dict[str, Any] | AskResult]:
        """Stage events and answer tokens as they come, at last the `AskResult`. Arguments as for `aask`."""
        start = perf_counter()
        state: dict[str, Any] = {}
        graph, given, context = await self._run_of(query, **arguments)
        stream = graph.astream(given, context=context, output_keys=_RESULT_KEYS, stream_mode=["custom", "values"])
        async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", stream)):
            async for mode, part in stream:
                event = cast("dict[str, Any]", part)
                if mode == "custom":
                    yield event
                else:
                    state = event
        yield AskResult.of(state, perf_counter() - start)

    async def _run_of(
        self,
        query: str,
        instruction: str = "",
        history: History = (),
        filters: Mapping[str, Any] | None = None,
        baseline: str | None = None,
        **options: Any,
    ) -> tuple[Graph, AnswerInput, AnswerContext]:
        """The graph that answers a question, its input and its options."""
        graph = _graph_of(baseline)
        context = self.context(context_of(graph), options)
        given: AnswerInput = {"query": query, "instruction": instruction, "filters": dict(filters or {})}
        if history:
            store, scope = self.backends.store, await context.scope()
            turns, earlier = await asyncio.to_thread(read_history, history, store, scope)
            given["history"] = [{"role": turn.role, "content": turn.content} for turn in turns]
            given["earlier"] = earlier
        return graph, given, context

    async def aingest(self, path: str | Path, *, progress: Progress | None = None, **options: Any) -> IngestResult:
        """Read a file or folder into the store: new and changed documents are stored, vanished ones deleted.

        Args:
            path: What to read.
            progress: Called with every progress event.
            **options: Fields of `IngestContext`.

        Raises:
            InputError: Missing path, unknown format, unknown option.
        """
        context, start = self.context(IngestContext, {**options}), perf_counter()
        state = await run_ingest(_checked_path(path), context, progress)
        return IngestResult.of(state, perf_counter() - start)

    async def aadd_texts(self, texts: Iterable[str | GivenText], **options: Any) -> IngestResult:
        """Store texts of a program; a text that is stored already has the status ``unchanged``.

        They are stored as files next to the store (in memory: in a temporary folder), one folder per corpus.

        Args:
            texts: Documents, also from an iterator; with a name or metadata as `discorag.ingest.texts.GivenText`.
            **options: As of `aingest`.

        Raises:
            InputError: A text is empty.
        """
        scope = self.scope(tenant=options.get("tenant"), corpus=options.get("corpus"))
        folder = self._texts_folder() / scope.folder
        given = (t if isinstance(t, GivenText) else GivenText(t) for t in texts)
        files = {str(f) for f in await asyncio.to_thread(write_texts, given, folder)}
        done = await self.aingest(folder, **options)
        return done.model_copy(update={"outcomes": tuple(o for o in done.outcomes if o.uri in files)})

    async def aadd_documents(self, documents: Iterable[Document], **options: Any) -> IngestResult:
        """Store LangChain's documents: content, metadata, and the id as name. Raises as `aadd_texts`."""
        texts = (GivenText(d.page_content, d.id or "", d.metadata) for d in documents)
        return await self.aadd_texts(texts, **options)

    async def aingest_for_audit(
        self,
        path: str | Path,
        *,
        corpus: str | None = None,
        tenant: str | None = None,
        progress: Progress | None = None,
    ) -> IngestResult:
        """Read a folder into a corpus of its name; trees are made only if the corpus has some. Raises as `aingest`."""
        name = corpus or Path(_checked_path(path)).resolve().name
        stored = await asyncio.to_thread(self.backends.store.manifests, self.scope(tenant=tenant, corpus=name))
        parser = "auto" if any(m.versions.get("parser", NOT_MADE) != NOT_MADE for m in stored) else NOT_MADE
        return await self.aingest(path, corpus=name, tenant=tenant, parser=parser, retriever="dense", progress=progress)

    async def aaudit(
        self,
        *,
        corpus: str | None = None,
        tenant: str | None = None,
        against: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> AuditReport:
        """Find where the documents of a corpus disagree, and why. Only what changed since the last audit is compared.

        Args:
            corpus: The corpus; default: as configured.
            tenant: Whose; default: as configured.
            against: Another corpus: compare with its documents, and nothing else.
            progress: Called with the number of documents read, and of all.

        Raises:
            InputError: A corpus holds no documents, or is to be compared with itself.
        """
        backends = self.backends
        own, other = (self.scope(tenant=tenant, corpus=name) for name in (corpus, against or corpus))
        if against is not None and own == other:
            raise InputError("A corpus cannot be compared with itself.", hint="Name two corpora.")
        for scope in {own, other}:
            if not await asyncio.to_thread(backends.store.has, scope):
                raise nothing_in(backends.store, scope)
        if against is None:
            return await audit_corpus(backends.store, backends.encoder, own, progress)
        return await compare_corpora(backends.store, backends.encoder, own, other, progress)

    ingest_for_audit = _sync(aingest_for_audit)
    audit = _sync(aaudit)
    ask = _sync(aask)
    ingest = _sync(aingest)
    add_texts = _sync(aadd_texts)
    add_documents = _sync(aadd_documents)

    def settle(
        self, finding_id: str, note: str | None = "", *, tenant: str | None = None, corpus: str | None = None
    ) -> None:
        """Settle a finding of the last audit with a note; None reopens it. It stays settled in later audits.

        Raises:
            NotFoundError: The last audit has no such finding.
        """
        findings, scope = Findings(self.backends.store.database, RULES), self.scope(tenant=tenant, corpus=corpus)
        if not findings.has(scope, finding_id):
            raise NotFoundError(
                f"There is no finding {finding_id!r} in corpus {scope.corpus!r}.", hint="Run the audit again."
            )
        findings.settle(scope, finding_id, note)

    def last_audit(self, *, tenant: str | None = None, corpus: str | None = None) -> AuditReport:
        """What the last audit of a corpus found; nothing is compared."""
        return stored_audit(self.backends.store, self.scope(tenant=tenant, corpus=corpus))

    def documents(self, *, tenant: str | None = None, corpus: str | None = None) -> list[Manifest]:
        """The stored documents of a scope."""
        return self.backends.store.manifests(self.scope(tenant=tenant, corpus=corpus))

    def corpora(self, *, tenant: str | None = None) -> list[Corpus]:
        """The corpora in which a tenant has documents, by name."""
        return self.backends.store.corpora(self.scope(tenant=tenant).tenant)

    def delete(self, doc_id: str, *, tenant: str | None = None, corpus: str | None = None) -> bool:
        """Delete a document; whether it was there."""
        return self.backends.store.delete(self.scope(tenant=tenant, corpus=corpus), doc_id)

    def scope(self, *, tenant: str | None = None, corpus: str | None = None) -> Scope:
        """Tenant and corpus, as given or as configured."""
        settings = self.backends.settings
        return Scope(tenant=tenant or settings.tenant, corpus=corpus or settings.corpus)

    def close(self) -> None:
        """Stop the sync twins' event loop and release the store."""
        if self._loop:
            self._loop.close()
            self._loop = None
        if self._temporary:
            self._temporary.cleanup()
        self.backends.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run on one event loop in a thread of its own. Ctrl-C stops the run; what it has stored stays."""
        self._loop = self._loop or BackgroundLoop()
        return self._loop.run(call)

    def _texts_folder(self) -> Path:
        """The folder for texts that were passed in."""
        settings = self.backends.settings.store
        if settings.kind != "memory":
            return settings.path.parent / "texts"
        self._temporary = self._temporary or TemporaryDirectory(prefix="disco-rag-")
        return Path(self._temporary.name)

    def context(self, kind: type[_C], options: dict[str, Any]) -> _C:
        """The context of a run over these resources. Raises `InputError` for an unknown option or a wrong value."""
        if "backends" in options:
            raise InputError("Option backends: it is set by the facade.", hint="Pass it to DiscoRAG instead.")
        return kind(backends=self.backends, **options)

    def explain(self, *, baseline: str | None = None, **options: Any) -> Resolved:
        """The complete options of a question that is asked with these ones, and where the value of each comes from.

        Nothing is asked. Arguments and errors as for `aask`.

        Example:
            >>> rag.explain(top_k=5).origins["retriever"]
            'implied by top_k'
        """
        return self.context(context_of(_graph_of(baseline)), options).explain(self.backends)


_C = TypeVar("_C", AnswerContext, IngestContext)
_RESULT_KEYS = [key for key in AskResult.model_fields if key != "seconds"]
"""The keys of the final state that a result needs."""


def _graph_of(baseline: str | None) -> Graph:
    """The graph of a baseline; None: the answer graph. Raises `InputError` for an unknown baseline."""
    graph = answer_graph.graph if baseline is None else BASELINES.get(baseline)
    if graph is None:
        raise InputError(f"There is no baseline {baseline!r}.", hint=f"Known baselines: {', '.join(BASELINES)}.")
    return graph


def _checked_path(path: str | Path) -> str:
    """The path, if it names something: an empty string would silently mean the current folder."""
    if not str(path).strip():
        raise MissingPathError("No path was given.", hint="Name a file or a folder; . is the current one.")
    return str(path)
