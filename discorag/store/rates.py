"""How often something happened in the last minute, counted in PostgreSQL over all servers that share the database."""

from sqlalchemy import ColumnElement, Integer, case, cast, func, text
from sqlalchemy.dialects.postgresql import insert

from discorag.store import tables
from discorag.store.database import Database

R = tables.rates
_MINUTE = cast(func.floor(func.extract("epoch", func.now()) / 60), Integer)  # by the database's clock
_UNSYNCED = text("SET LOCAL synchronous_commit = off")  # a count that a crash loses harms nobody


class Rates:
    """Counts by name. All methods block, and raise `StoreError` where the database fails.

    Args:
        database: On a PostgreSQL server.
        minute: The number of the current minute, by the database's clock.
    """

    def __init__(self, database: Database, minute: ColumnElement[int] = _MINUTE) -> None:
        self._place, self._minute = database.place, minute

    def count(self, name: str) -> int:
        """Count one more; how many there are in this minute."""
        row = insert(R).values(name=name, minute=self._minute, count=1)
        counted = case((R.c.minute == row.excluded.minute, R.c.count + 1), else_=1)
        row = row.on_conflict_do_update(index_elements=[R.c.name], set_={"minute": self._minute, "count": counted})
        with self._place.errors(), self._place.engine.begin() as db:
            db.execute(_UNSYNCED)
            return db.scalars(row.returning(R.c.count)).one()
