"""What audits found, as rows of the store's database, and which findings a reader has settled."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Select, and_, delete, insert, or_, select

from discorag.schema.document import Scope
from discorag.store import tables
from discorag.store.database import Database, is_in
from discorag.store.documents import in_parts

D, F, A, S = tables.documents, tables.findings, tables.audited, tables.settled


class Findings:
    """Findings as JSON, by scope. All methods block, and raise `StoreError` where the database fails.

    Args:
        database: The store's.
        rules: Version of the rules by which findings are made: those made by others are out of date.
    """

    def __init__(self, database: Database, rules: int) -> None:
        self._database, self._rules = database, rules

    def fingerprints(self, scope: Scope) -> dict[str, str]:
        """The documents that the last audit read by the same rules: id -> fingerprint."""
        with self._database.read() as db:
            read = select(A.c.doc_id, A.c.fingerprint).where(is_in(scope, A), A.c.rules == self._rules)
            return dict(db.execute(read).tuples().all())

    def replace(
        self,
        scope: Scope,
        stale: Iterable[str],
        findings: Iterable[tuple[str, str, str, str]],
        audited: Mapping[str, str],
    ) -> None:
        """Store the result of an audit in one transaction.

        Args:
            scope: Whose documents.
            stale: Documents whose findings are deleted first: those that changed or vanished.
            findings: New ones: id, the two documents' ids, the finding as JSON.
            audited: All documents of the scope, id -> fingerprint.
        """
        own = scope.model_dump()
        with self._database.write(f"findings of {scope.folder}") as db:
            for part in in_parts(list(stale)):
                touched = or_(F.c.left_doc.in_(part), F.c.right_doc.in_(part))
                db.execute(delete(F).where(is_in(scope, F), touched))
            rows = [own | {"id": i, "left_doc": a, "right_doc": b, "body": body} for i, a, b, body in findings]
            if rows:
                db.execute(insert(F), rows)
            db.execute(delete(A).where(is_in(scope, A)))
            if audited:
                read = [own | {"doc_id": d, "fingerprint": f, "rules": self._rules} for d, f in audited.items()]
                db.execute(insert(A), read)

    def current_findings(self, scope: Scope) -> list[str]:
        """The findings of a scope whose documents have not changed since the last audit, as JSON."""
        with self._database.read() as db:
            return list(db.scalars(self._current(scope)))

    def open_findings(self, scope: Scope, doc_ids: Iterable[str]) -> list[str]:
        """The current findings about these documents that are not settled, as JSON."""
        ids = list(doc_ids)
        settled = select(S.c.id).where(is_in(scope, S))
        about = or_(F.c.left_doc.in_(ids), F.c.right_doc.in_(ids))
        with self._database.read() as db:
            return list(db.scalars(self._current(scope).where(about, F.c.id.not_in(settled))))

    def has(self, scope: Scope, finding_id: str) -> bool:
        """Whether the last audit found the finding with this id."""
        with self._database.read() as db:
            return db.scalar(select(F.c.id).where(is_in(scope, F), F.c.id == finding_id)) is not None

    def settled_notes(self, scope: Scope) -> dict[str, str]:
        """The findings that a reader has settled: id -> note."""
        with self._database.read() as db:
            return dict(db.execute(select(S.c.id, S.c.note).where(is_in(scope, S))).tuples().all())

    def settle(self, scope: Scope, finding_id: str, note: str | None) -> None:
        """Settle a finding with a note, or reopen it with None. Settled findings stay settled in later audits."""
        with self._database.write(finding_id) as db:
            db.execute(delete(S).where(is_in(scope, S), S.c.id == finding_id))
            if note is not None:
                db.execute(insert(S), scope.model_dump() | {"id": finding_id, "note": note})

    def _current(self, scope: Scope) -> Select[Any]:
        as_audited = and_(A.c.doc_id == D.c.doc_id, A.c.fingerprint == D.c.fingerprint, A.c.rules == self._rules)
        documents = select(D.c.doc_id).join(A, as_audited).where(is_in(scope, A))
        return select(F.c.body).where(is_in(scope, F), F.c.left_doc.in_(documents), F.c.right_doc.in_(documents))
