"""Questions that can be stopped before a stage, looked at, edited and resumed; on disk, each of one tenant."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from uuid import uuid4

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from discorag.extras import extra
from discorag.models.protocol import Message
from discorag.schema.discourse import RhetoricalGraph
from discorag.schema.errors import InputError, NotFoundError, StoreError
from discorag.store.conversations import ThreadRow, ThreadTable
from discorag.store.database import Database
from discorag.store.postgres import CONNECTIONS, PostgresServer
from discorag.store.sqlite import SqliteFile
from graphs.answer import EDGES, build
from nodes.context import AnswerContext
from nodes.state import AnswerInput, Json

Stage = Literal["parse", "assess", "relate", "plan", "generate", "verify"]
"""Where a run can be stopped: before the stage."""
_BEFORE = {after: before for before, after in EDGES}
"""A stage at which an edit is possible -> the stage whose output is edited."""
RETENTION_S = 30 * 86_400
"""Seconds after its last use at which a thread is deleted: at the next start, or when a thread is created."""
BUSY_S = 30.0
"""Seconds that a write waits for one of another process."""
MAX_THREADS = 1000
"""Of one tenant."""


class Thread(BaseModel):
    """A thread: its tenant and corpus, the options of its question, and as its title the first question asked in it."""

    model_config = ConfigDict(frozen=True)

    id: str
    tenant: str = Field(exclude=True)
    corpus: str | None = None
    created: datetime
    switches: dict[str, Any] = {}
    title: str = ""


class ThreadState(BaseModel):
    """The results of a run so far, and the stage before which it stopped; ``next`` is empty at its end.

    ``parent`` is the checkpoint before it, empty for the first.
    """

    checkpoint: str
    parent: str = ""
    next: tuple[str, ...]
    created: datetime
    values: Json


class HitEdit(BaseModel):
    """A chunk of the evidence."""

    model_config = ConfigDict(extra="forbid")

    chunk_id: str = Field(max_length=200)
    score: float = 0.0


Offset = Annotated[int, Field(ge=0, le=10**9)]
_EDITABLE = ("hits", "evidence", "graph", "plan", "draft")


class Edit(BaseModel):
    """Changes to a stopped run; what is left out stays. At least one is given, and none is null."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"anyOf": [{"required": [key]} for key in _EDITABLE]})

    hits: Annotated[list[HitEdit], Field(max_length=500)] | SkipJsonSchema[None] = Field(
        default=None, description="Evidence, best first."
    )
    evidence: Annotated[dict[str, list[tuple[Offset, Offset]]], Field(max_length=500)] | SkipJsonSchema[None] = Field(
        default=None, description="Chunk id -> spans of it that are evidence, in document offsets."
    )
    graph: RhetoricalGraph | SkipJsonSchema[None] = Field(default=None, description="Rhetorical graph over the chunks.")
    plan: Annotated[str, Field(max_length=20_000)] | SkipJsonSchema[None] = Field(
        default=None, description="Plan of the answer, one paragraph."
    )
    draft: Annotated[str, Field(max_length=100_000)] | SkipJsonSchema[None] = Field(
        default=None, description="The answer with citations [n]."
    )

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        changes = [getattr(self, key) for key in _EDITABLE if key in self.model_fields_set]
        if not changes or None in changes:
            raise ValueError(f"Nothing is changed. Give {', '.join(_EDITABLE)}, and leave out what stays")
        return self


class ConflictError(InputError):
    """The thread is in a state in which this cannot be done."""


_WAIT = "Wait until it has ended."


class Threads:
    """The threads of one server.

    Args:
        database: The store's database, with the threads.
        saver: LangGraph's, with their checkpoints; see `open`.

    Raises:
        StoreError: By any method: the disk or the database fails.
    """

    def __init__(self, database: Database, saver: BaseCheckpointSaver[Any]) -> None:
        self._table, self._place = ThreadTable(database), database.place
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # of threads, by id
        self._saver = saver
        self._graph = build(checkpointer=saver)

    @classmethod
    @asynccontextmanager
    async def open(cls, database: Database, file: Path) -> AsyncGenerator[Self]:
        """The threads of a database; those not used for long are deleted.

        Their checkpoints are in the database if it is on a PostgreSQL server, else in ``file``.
        """
        async with _errors(), _saver(database.place, file) as saver:
            threads = cls(database, saver)
            await threads._forget_old()
            yield threads

    async def create(self, tenant: str, corpus: str | None) -> Thread:
        """Create a thread, after deleting those not used for long. Raises `InputError` if the tenant has too many."""
        await self._forget_old()
        thread = Thread(id=uuid4().hex, tenant=tenant, corpus=corpus, created=datetime.now(UTC))
        row = ThreadRow(thread.id, tenant, thread.created.timestamp(), thread.model_dump_json())
        if not await asyncio.to_thread(self._table.add, row, MAX_THREADS):
            raise InputError(f"There are {MAX_THREADS} threads.", hint="Delete some: DELETE /threads/ID.")
        return thread

    async def all(self, tenant: str) -> list[Thread]:
        """The threads of a tenant, the latest first."""
        return [_thread(row.body, row.tenant) for row in await asyncio.to_thread(self._table.of, tenant)]

    async def get(self, tenant: str, thread_id: str) -> Thread:
        """Return a thread of this tenant. Raises `NotFoundError`."""
        row = await asyncio.to_thread(self._table.get, tenant, thread_id)
        if row is None:
            raise NotFoundError(f"There is no thread {thread_id}.", hint="GET /threads lists them.")
        return _thread(row.body, row.tenant)

    async def delete(self, thread: Thread) -> None:
        """Delete a thread with its checkpoints, after its runs here. Raises `ConflictError` if one is elsewhere."""
        async with self._exclusive(thread, waits=True):
            await self._saver.adelete_thread(thread.id)
            await asyncio.to_thread(self._table.remove, thread.tenant, thread.id)
        self._locks.pop(thread.id, None)

    async def run(
        self,
        thread: Thread,
        question: AnswerInput | None,
        context: AnswerContext,
        *,
        stop_before: Sequence[Stage] = (),
        checkpoint: str | None = None,
    ) -> ThreadState:
        """Ask a question, or resume the thread or one of its checkpoints.

        Args:
            thread: The thread.
            question: None: resume.
            context: Options and backends.
            stop_before: Stages before which to stop.
            checkpoint: Resume from here; later checkpoints stay in the history.

        Raises:
            ConflictError: There is nothing to resume, or a run is under way.
            InputError: As `DiscoRAG.aask`.
        """
        async with self._exclusive(thread):
            config = await self._config(thread, checkpoint)
            if question is None and not (await self._graph.aget_state(config)).next:
                raise ConflictError("The thread has no run that has stopped.", hint="Ask a question first.")
            state: Any = question
            await self._graph.ainvoke(state, config, context=context, interrupt_before=list(stop_before))
            return await self._state(_config(thread))

    async def state(self, thread: Thread, checkpoint: str | None = None) -> ThreadState:
        """Its state, or that at a checkpoint. Raises `NotFoundError` for an unknown checkpoint."""
        async with _errors():
            return await self._state(await self._config(thread, checkpoint))

    async def history(self, thread: Thread, limit: int) -> list[ThreadState]:
        """Its checkpoints, the latest first."""
        async with _errors():
            states = self._graph.aget_state_history(_config(thread), limit=limit)
            return [_state_of(state) async for state in states]

    async def edit(self, thread: Thread, edit: Edit, checkpoint: str | None = None) -> ThreadState:
        """Change the state of a stopped run.

        Raises:
            ConflictError: It has not stopped before a stage whose input can be changed, or a run is under way.
        """
        async with self._exclusive(thread):
            config = await self._config(thread, checkpoint)
            [stage] = (await self._graph.aget_state(config)).next or [""]
            if stage not in _BEFORE:
                hint = f"Stop it before one of {', '.join(_BEFORE)}."
                raise ConflictError("The run has not stopped where it could be edited.", hint=hint)
            values = edit.model_dump(mode="json", include=set(_EDITABLE), exclude_none=True)
            await self._graph.aupdate_state(config, values, as_node=_BEFORE[stage])
            return await self._state(_config(thread))

    async def fork(self, thread: Thread, checkpoint: str | None = None) -> Thread:
        """A new thread with the state of this one, or of one of its checkpoints.

        Raises:
            ConflictError: It has no evidence yet at that point.
            InputError: There are too many threads.
            NotFoundError: There is no such checkpoint.
        """
        state = await self.state(thread, checkpoint)
        before = _BEFORE.get(state.next[0]) if state.next else "abstain"
        if before is None:
            raise ConflictError("It cannot be forked before its evidence was found.", hint="Ask the question again.")
        new = await self.remember(await self.create(thread.tenant, thread.corpus), thread.switches)
        async with _errors():
            await self._graph.aupdate_state(_config(new), state.values, as_node=before)
        return new

    async def conversation(self, thread: Thread) -> list[Message]:
        """The questions that were answered in a thread, each with the text of its answer, the earliest first."""
        turns = await asyncio.to_thread(self._table.turns, thread.tenant, thread.id)
        both = ((Message(role="user", content=q), Message(role="assistant", content=text)) for q, text, _ in turns)
        return [message for turn in both for message in turn]

    async def replies(self, thread: Thread) -> list[str]:
        """The whole replies to these questions, as JSON."""
        return [reply for _, _, reply in await asyncio.to_thread(self._table.turns, thread.tenant, thread.id)]

    async def add_turn(self, thread: Thread, *, question: str, text: str, reply: str) -> None:
        """Store an answered question, unless the thread was deleted meanwhile; the first one names the thread."""
        await self._change(thread, lambda found: found.model_copy(update={"title": found.title or question}))
        add = partial(self._table.add_turn, thread.tenant, thread.id)
        await asyncio.to_thread(add, question=question, text=text, reply=reply)

    async def remember(self, thread: Thread, switches: dict[str, Any]) -> Thread:
        """Store the options of its question. Raises `NotFoundError` if the thread was deleted meanwhile."""
        await self._change(thread, lambda found: found.model_copy(update={"switches": switches}))
        return await self.get(thread.tenant, thread.id)

    async def _change(self, thread: Thread, edit: Callable[[Thread], Thread]) -> None:
        """Change what is stored now: other requests change other fields meanwhile."""

        def edit_body(body: str) -> str:
            return edit(_thread(body, thread.tenant)).model_dump_json()

        now = datetime.now(UTC).timestamp()
        await asyncio.to_thread(self._table.change, thread.tenant, thread.id, now, edit_body)

    async def _forget_old(self) -> None:
        before = datetime.now(UTC).timestamp() - RETENTION_S
        for row in await asyncio.to_thread(self._table.unused_since, before):
            with suppress(ConflictError):
                await self.delete(_thread(row.body, row.tenant))

    async def _state(self, config: Any) -> ThreadState:
        return _state_of(await self._graph.aget_state(config))

    async def _config(self, thread: Thread, checkpoint: str | None) -> Any:
        """Raises `NotFoundError` for an unknown checkpoint."""
        config = _config(thread, checkpoint)
        if checkpoint is not None and await self._saver.aget_tuple(config) is None:
            raise NotFoundError(f"There is no checkpoint {checkpoint}.", hint="GET /threads/ID/history lists them.")
        return config

    @asynccontextmanager
    async def _exclusive(self, thread: Thread, *, waits: bool = False) -> AsyncGenerator[None]:
        """A block that has this thread to itself; it may wait for runs of this process.

        Raises:
            ConflictError: A run is under way.
        """
        lock, busy = self._locks[thread.id], "A run of this thread is under way."
        if lock.locked() and not waits:
            raise ConflictError(busy, hint=_WAIT)
        async with lock, _hold(self._place.lock(f"thread {thread.id}")) as is_taken:
            if not is_taken:
                raise ConflictError(busy, hint=_WAIT)
            async with _errors():
                yield


@asynccontextmanager
async def _saver(place: SqliteFile | PostgresServer, file: Path) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """LangGraph's checkpointer for this database."""
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)  # reading creates no objects
    if isinstance(place, SqliteFile):
        async with aiosqlite.connect(file, timeout=BUSY_S) as connection:
            saver = AsyncSqliteSaver(connection, serde=serde)
            await saver.setup()
            yield saver
        return
    with extra("postgres"):
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import AsyncConnection
        from psycopg.rows import DictRow, dict_row
        from psycopg_pool import AsyncConnectionPool
    url = place.url.set(drivername="postgresql").render_as_string(hide_password=False)
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    kind = AsyncConnectionPool[AsyncConnection[DictRow]]
    check = kind.check_connection  # a server that was restarted has closed the connections
    async with kind(url, kwargs=options, min_size=1, max_size=CONNECTIONS, check=check, open=False) as pool:
        saver = AsyncPostgresSaver(pool, serde=serde)
        async with _hold(place.lock("checkpoints", BUSY_S)) as is_taken:
            if not is_taken:
                hint = "Wait until another server has started, or end it."
                raise StoreError(f"The tables of threads have been locked for {BUSY_S:.0f} seconds.", hint=hint)
            await saver.setup()
        yield saver


@asynccontextmanager
async def _hold(lock: AbstractContextManager[bool]) -> AsyncGenerator[bool]:
    """A lock of the database; it is taken and released in threads, since both may wait."""
    taking = asyncio.create_task(asyncio.to_thread(lock.__enter__))
    try:
        yield await asyncio.shield(taking)
    finally:
        await taking  # cancelled or not, it may have been taken
        await asyncio.to_thread(lock.__exit__, None, None, None)


def _thread(body: str, tenant: str) -> Thread:
    return Thread.model_validate({**json.loads(body), "tenant": tenant})


def _config(thread: Thread, checkpoint: str | None = None) -> Any:
    at = {"checkpoint_id": checkpoint} if checkpoint else {}
    return {"configurable": {"thread_id": thread.id, "checkpoint_ns": "", **at}}


def _state_of(state: Any) -> ThreadState:
    checkpoint, parent = (_checkpoint(config) for config in (state.config, state.parent_config))
    created = state.created_at or datetime.now(UTC)
    return ThreadState(checkpoint=checkpoint, parent=parent, next=state.next, created=created, values=state.values)


def _checkpoint(config: Any) -> str:
    return config["configurable"].get("checkpoint_id", "") if config else ""


@asynccontextmanager
async def _errors() -> AsyncGenerator[None]:
    """Raises `StoreError` where the disk fails."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"Threads cannot be written or read: {error}.", hint="Check the disk.") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("psycopg", "psycopg_pool"):
            raise
        from psycopg import DataError

        if isinstance(error, DataError):
            raise InputError(f"A value cannot be stored: {error}.", hint="Leave out such characters.") from error
        raise StoreError(f"Threads cannot be written or read: {error}.", hint="Check the database server.") from error
