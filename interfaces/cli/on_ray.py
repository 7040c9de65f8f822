"""Ingests and files of questions on a Ray cluster: the same functions, run by actors that write into one database.

Each actor holds a pipeline of its own and needs a processor. If an actor dies, Ray gives its documents to another one;
what it had stored is found in the database and left as it is. A local folder must be at the same path on every machine.
Ray takes its address from ``RAY_ADDRESS``, else it runs on this machine.
"""

# Ray is installed by an extra only, and typed in part.
# pyright: reportMissingModuleSource=false
import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from langgraph.config import get_stream_writer

from discorag.config import Settings
from discorag.extras import extra
from discorag.schema.errors import ConfigError, StoreError
from graphs.ingest import build_around, ingest_one, run_ingest
from interfaces.cli.batch import Replies, Reply, reply_to
from interfaces.facade import DiscoRAG, Progress
from interfaces.questions import Question
from interfaces.results import IngestResult
from nodes.context import IngestContext
from nodes.state import IngestState, Json

Process = Callable[[DiscoRAG, str], Awaitable[str]]
_AT_ONCE = 8  # documents or questions that an actor takes at a time, and that are done again if it dies
_RETRIES = 3  # of these; without a limit a file that kills its actor would kill one after the other, without end


class _Actor:
    """A pipeline in a process of Ray; takes rows of JSON, and returns what ``process`` makes of each."""

    def __init__(self, settings: Settings, process: Process) -> None:
        self._rag, self._process = DiscoRAG(settings), process

    def __call__(self, rows: dict[str, Any]) -> dict[str, list[str]]:
        async def process_all() -> list[str]:
            return list(await asyncio.gather(*(self._process(self._rag, row) for row in rows["row"])))

        return {"row": self._rag.run(process_all)}


async def _store(rag: DiscoRAG, row: str, *, options: dict[str, Any]) -> str:
    return json.dumps(await ingest_one(row, rag.context(IngestContext, options)))


async def _answer(rag: DiscoRAG, row: str, *, options: dict[str, Any]) -> str:
    return (await reply_to(rag, Question.model_validate_json(row), options)).model_dump_json()


def ingest(rag: DiscoRAG, path: str, *, progress: Progress | None = None, **options: Any) -> IngestResult:
    """Ingest as `DiscoRAG.ingest` does, by actors.

    Raises:
        ConfigError: The store is not in a database on a server, or Ray cannot be reached.
        StoreError: An actor fails again and again.
    """
    graph = build_around(partial(_documents, settings=_settings(rag), options=options))
    context, start = rag.context(IngestContext, options), perf_counter()
    state = rag.run(lambda: run_ingest(path, context, progress, by=graph))
    return IngestResult.of(state, perf_counter() - start)


def _settings(rag: DiscoRAG) -> Settings:
    """The settings for actors."""
    settings = rag.backends.settings
    if settings.store.database_url is None:
        hint = "Set DISCO_RAG_DATABASE_URL, and DISCO_RAG_STORE__URL for Qdrant."
        raise ConfigError("Ray's actors write into one database on a server.", hint=hint)
    return settings


async def _documents(state: IngestState, settings: Settings, options: dict[str, Any]) -> Json:
    """Store all files, and report each outcome as it comes."""
    say, outcomes, ledger = get_stream_writer(), list[Json](), list[Json]()

    def take(row: str) -> None:
        done = json.loads(row)
        outcomes.extend(done["outcomes"])
        ledger.extend(done["ledger"])
        for outcome in done["outcomes"]:
            say({"event": "document", **outcome})

    await asyncio.to_thread(_run, partial(_store, options=options), state.get("files", []), settings, take)
    return {"outcomes": outcomes, "ledger": ledger}


def answer_file(
    rag: DiscoRAG,
    questions: Sequence[Question],
    out: Path,
    *,
    on_reply: Callable[[Reply], None] = lambda _: None,
    **options: Any,
) -> int:
    """Answer as `interfaces.cli.batch.answer_file` does, by actors. Raises as `ingest`, too."""
    with Replies(out, questions, on_reply) as replies:
        rows = [question.model_dump_json() for question in replies.missing]
        process, settings = partial(_answer, options=options), _settings(rag)
        _run(process, rows, settings, lambda row: replies.add(Reply.model_validate_json(row)))
    return replies.failed


def _run(process: Process, rows: Sequence[str], settings: Settings, take: Callable[[str], None]) -> None:
    """Give the rows to actors, and take what they return, in the order in which it comes."""
    if not rows:
        return
    with _ray() as ray:
        blocks = -(-len(rows) // _AT_ONCE)
        data = ray.data.from_items([{"row": row} for row in rows], override_num_blocks=blocks)
        done = data.map_batches(
            _Actor,
            fn_constructor_args=(settings, process),
            batch_size=_AT_ONCE,
            num_cpus=1,
            concurrency=max(1, min(blocks, int(ray.cluster_resources()["CPU"]))),
            max_task_retries=_RETRIES,
        )
        try:
            for row in done.iter_rows():
                take(row["row"])
        except ray.exceptions.RayError as error:
            cause = str(error).strip().rpartition("\n")[2]
            raise StoreError(
                f"Ray gave up: {cause}", hint="What is done stays; run the command again to resume."
            ) from error


@contextmanager
def _ray() -> Generator[Any]:
    """Ray, connected or started for this block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # of what is started here; all else is seen as a RayError
    with extra("ray"):
        import ray
        import ray.data
        import ray.exceptions  # pyright: ignore[reportUnusedImport]
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # Ray has no class of its own for this
        hint = "Check RAY_ADDRESS, and what `ray status` says."
        raise ConfigError(f"Ray cannot be reached or started: {error}", hint=hint) from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        ray.shutdown()
