"""Conversations with the server: threads, and the questions that were answered in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from discorag.store import tables
from discorag.store.database import Database

T, N = tables.threads, tables.turns


@dataclass(frozen=True)
class ThreadRow:
    """A thread of a tenant; ``touched``: when it was last used, in seconds; ``body``: the rest, as JSON."""

    id: str
    tenant: str
    touched: float
    body: str


class ThreadTable:
    """Threads by tenant. All methods block, and raise `StoreError` where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, row: ThreadRow, at_most: int) -> bool:
        """Add a thread; False: the tenant has so many already."""
        with self._database.write(f"threads of {row.tenant}") as db:
            if db.scalars(select(func.count()).where(T.c.tenant == row.tenant)).one() >= at_most:
                return False
            db.execute(insert(T), vars(row))
        return True

    def of(self, tenant: str) -> list[ThreadRow]:
        """The threads of a tenant, the latest first."""
        with self._database.read() as db:
            rows = db.execute(select(T).where(T.c.tenant == tenant).order_by(T.c.touched.desc())).tuples()
            return [ThreadRow(*row) for row in rows]

    def get(self, tenant: str, thread_id: str) -> ThreadRow | None:
        """A thread of this tenant; None if there is none."""
        with self._database.read() as db:
            row = db.execute(select(T).where(_is(tenant, thread_id))).first()
        return ThreadRow(*row) if row else None

    def unused_since(self, touched: float) -> list[ThreadRow]:
        """The threads of all tenants that were last used before this time."""
        with self._database.read() as db:
            return [ThreadRow(*row) for row in db.execute(select(T).where(T.c.touched < touched)).tuples()]

    def change(self, tenant: str, thread_id: str, touched: float, edit: Callable[[str], str]) -> None:
        """Change the JSON of a thread in one transaction, if it is still there."""
        with self._database.write(thread_id) as db:
            body = db.scalar(select(T.c.body).where(_is(tenant, thread_id)))
            if body is not None:
                db.execute(update(T).where(_is(tenant, thread_id)).values(touched=touched, body=edit(body)))

    def remove(self, tenant: str, thread_id: str) -> None:
        """Remove a thread with its questions."""
        with self._database.write(thread_id) as db:
            db.execute(delete(T).where(_is(tenant, thread_id)))

    def add_turn(self, tenant: str, thread_id: str, *, question: str, text: str, reply: str) -> None:
        """Store an answered question, unless the thread was removed meanwhile."""
        with self._database.write(thread_id) as db:
            if db.scalar(select(func.count()).where(_is(tenant, thread_id))):
                db.execute(insert(N), {"thread": thread_id, "question": question, "text": text, "reply": reply})

    def turns(self, tenant: str, thread_id: str) -> list[tuple[str, str, str]]:
        """The answered questions of a thread, the earliest first: question, text of the answer, whole reply."""
        query = select(N.c.question, N.c.text, N.c.reply).join(T).where(_is(tenant, thread_id)).order_by(N.c.number)
        with self._database.read() as db:
            return [row.tuple() for row in db.execute(query)]


def _is(tenant: str, thread_id: str) -> ColumnElement[bool]:
    """Whether a row is this thread, of this tenant."""
    return and_(T.c.tenant == tenant, T.c.id == thread_id)
