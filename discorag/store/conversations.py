"""Conversations with the server: threads, and the questions that were answered in them."""

import json
from datetime import UTC, datetime
from uuid import uuid4

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from discorag.schema.errors import InputError, NotFoundError
from discorag.store import tables
from discorag.store.database import Database

T, N = tables.threads, tables.turns
RETENTION_S = 30 * 86_400
"""Seconds after its last use at which a thread is deleted."""
MAX_THREADS = 1000
"""The most threads of one tenant."""


class Thread(BaseModel, frozen=True):
    """A thread: its tenant and corpus, and as its title the first question asked in it."""

    id: str
    tenant: str = Field(exclude=True)
    corpus: str | None = None
    created: datetime
    title: str = ""


class Turn(BaseModel, frozen=True):
    """A question that was answered in a thread, the text of the answer, and the whole reply as JSON."""

    question: str
    text: str
    reply: str


class Threads:
    """The threads of a database. All methods block, and raise `StoreError` where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, tenant: str, corpus: str | None) -> Thread:
        """Create a thread, after deleting those not used for long. Raises `InputError` if the tenant has too many."""
        self.forget_old()
        thread = Thread(id=uuid4().hex, tenant=tenant, corpus=corpus, created=datetime.now(UTC))
        row = {"id": thread.id, "tenant": tenant, "touched": _now(), "body": thread.model_dump_json()}
        with self._database.write(tenant) as db:
            if (db.scalar(select(func.count()).where(T.c.tenant == tenant)) or 0) >= MAX_THREADS:
                raise InputError(f"There are already {MAX_THREADS} threads.", hint="Delete some: DELETE /threads/ID.")
            db.execute(insert(T), row)
        return thread

    def of(self, tenant: str) -> list[Thread]:
        """The threads of a tenant, the latest first."""
        with self._database.read() as db:
            bodies = db.scalars(select(T.c.body).where(T.c.tenant == tenant).order_by(T.c.touched.desc())).all()
        return [_thread(body, tenant) for body in bodies]

    def get(self, tenant: str, thread_id: str) -> Thread:
        """Return a thread of this tenant. Raises `NotFoundError`."""
        with self._database.read() as db:
            body = db.scalar(select(T.c.body).where(_is(tenant, thread_id)))
        if body is None:
            raise NotFoundError(f"There is no thread {thread_id}.", hint="GET /threads lists them.")
        return _thread(body, tenant)

    def delete(self, thread: Thread) -> None:
        """Delete a thread with its questions."""
        with self._database.write(thread.id) as db:
            db.execute(delete(T).where(_is(thread.tenant, thread.id)))

    def add_turn(self, thread: Thread, turn: Turn) -> None:
        """Store an answered question, unless the thread was deleted meanwhile; the first one names the thread."""
        with self._database.write(thread.id) as db:
            body = db.scalar(select(T.c.body).where(_is(thread.tenant, thread.id)))
            if body is None:
                return
            now = _thread(body, thread.tenant)
            named = now.model_copy(update={"title": now.title or turn.question}).model_dump_json()
            db.execute(update(T).where(_is(thread.tenant, thread.id)).values(touched=_now(), body=named))
            db.execute(insert(N), {"thread": thread.id, **turn.model_dump()})

    def turns(self, thread: Thread) -> list[Turn]:
        """The answered questions of a thread, the earliest first."""
        query = (
            select(N.c.question, N.c.text, N.c.reply).join(T).where(_is(thread.tenant, thread.id)).order_by(N.c.number)
        )
        with self._database.read() as db:
            return [Turn.model_validate(row) for row in db.execute(query).mappings()]

    def forget_old(self) -> None:
        """Delete the threads of all tenants that were not used for `RETENTION_S`."""
        with self._database.write("threads") as db:
            db.execute(delete(T).where(T.c.touched < _now() - RETENTION_S))


def _is(tenant: str, thread_id: str) -> ColumnElement[bool]:
    return and_(T.c.tenant == tenant, T.c.id == thread_id)


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _thread(body: str, tenant: str) -> Thread:
    return Thread.model_validate({**json.loads(body), "tenant": tenant})
