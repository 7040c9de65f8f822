"""What may be at once: a tenant's documents, bytes of uploads and jobs that have not ended; all tenants' questions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from discorag.schema.document import Scope
from discorag.store.jobs import JobTable
from interfaces.http.access import Access
from interfaces.http.problems import RefusedError

_LATER = {"Retry-After": "10"}


class Quotas:
    """The quotas of one server, from the rows of its database, and the room of uploads that are being written."""

    def __init__(self, access: Access, table: JobTable) -> None:
        self._access, self._table = access, table
        self._files, self._bytes = Counter[str](), Counter[str]()

    async def check(self, tenant: str, *, files: int, size: int) -> None:
        """Raises `RefusedError` (429) where one job more, these files or their bytes would be too many."""
        quota = self._access.quota(tenant)
        if await asyncio.to_thread(self._table.under_way, tenant) >= quota.jobs:
            said = f"{quota.jobs} jobs have not ended."
            raise _over(said, "Wait until one has, or cancel one: DELETE /ingest/JOB.", **_LATER)
        count, stored = await asyncio.to_thread(self._table.uploaded, tenant)
        if count + self._files[tenant] + files > quota.documents:
            raise _over(f"There would be more than {quota.documents} documents.", "Delete some: DELETE /documents/ID.")
        if stored + self._bytes[tenant] + size > quota.storage_mb * 1_000_000:
            said = f"The files kept would have more than {quota.storage_mb:g} MB."
            raise _over(said, "Delete documents: DELETE /documents/ID.")

    @asynccontextmanager
    async def room(self, scope: Scope, sizes: dict[str, int]) -> AsyncGenerator[None]:
        """A block that keeps these files, by name. Raises as `check`; files of the same name are replaced."""
        known = await asyncio.to_thread(self._table.known_uploads, scope)
        new, size = len(sizes.keys() - known), sum(sizes.values())
        await self.check(scope.tenant, files=new, size=size)
        self._files[scope.tenant] += new
        self._bytes[scope.tenant] += size
        try:
            yield
        finally:
            self._files[scope.tenant] -= new
            self._bytes[scope.tenant] -= size


class Questions:
    """The questions of one server that are being answered or wait; ``most`` may be."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.under_way = 0

    async def check(self) -> None:
        """Raises `RefusedError` (503) if as many questions are under way as there may be."""
        if self.under_way >= self._most:
            hint = "Try again later, or raise DISCO_RAG_API__QUESTIONS."
            raise RefusedError(503, "BusyError", f"{self.under_way} questions are under way.", hint=hint)

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None]:
        """A question that is under way. Raises as `check`."""
        await self.check()
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1


def _over(said: str, hint: str, **headers: str) -> RefusedError:
    return RefusedError(429, "QuotaError", said, hint=hint, headers=headers)
