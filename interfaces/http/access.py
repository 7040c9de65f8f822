"""Who asks, by the file of keys, and how much a key or a tenant may have: rates, documents, bytes, jobs, questions.

The file of keys is read again when its content changes. Replace it as a whole: write another file and rename it, so
that no half of it is ever read.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import secrets
import tomllib
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from time import monotonic, time
from urllib.parse import urlsplit

import structlog
from fastapi import Request
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discorag.config import QuotaSettings, Settings
from discorag.schema.document import Scope
from discorag.schema.errors import ConfigError
from discorag.store.jobs import JobTable
from interfaces.http.observability import LOGGER
from interfaces.http.problems import RefusedError

CHECKED_S = 1.0
"""How often the file is looked at, in seconds, at most."""
_HINT = "disco-rag key NAME prints an entry."
_log = structlog.get_logger("disco_rag.api")


class Role(StrEnum):
    """What a key is for."""

    READ = "read"  # ask, and look at documents and trees
    WRITE = "write"  # ingest and delete
    OPERATE = "operate"  # metrics, backups


class Principal(BaseModel):
    """Who asks: the key's name, for logs; the tenant, to which everything is limited; and its roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    tenant: str = Field(min_length=1)
    roles: frozenset[Role]


class Key(Principal):
    """An entry of the file; the key is refused from the day ``expires`` on (UTC)."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    expires: date | None = None


class Allowance(BaseModel):
    """What a tenant may have in the place of what `discorag.config.QuotaSettings` says; None: as that says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    documents: int | None = Field(default=None, ge=0)
    storage_mb: float | None = Field(default=None, ge=0)
    jobs: int | None = Field(default=None, ge=0)
    questions_per_minute: int | None = Field(default=None, ge=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: list[Key] = []
    tenant: list[Allowance] = []


@dataclass(frozen=True)
class Keys:
    """What the file says: keys by digest (SHA-256, hexadecimal), tenants by name."""

    keys: Mapping[str, Key]
    tenants: Mapping[str, Allowance]


class KeyFile:
    """The keys as the file has them now. A file that cannot be read or parsed changes nothing, and is logged once.

    Raises:
        ConfigError: It cannot be read, or holds no key.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._checked = file, monotonic()
        self._content = _content(file)
        self._keys = _parse(self._content, file)
        if not self._keys.keys:
            raise ConfigError(f"There is no key in {file}.", hint=_HINT)

    def now(self) -> Keys:
        """The keys; a file that was emptied has none, and lets nobody in."""
        if monotonic() - self._checked >= CHECKED_S:
            self._checked = monotonic()
            if (content := _content(self._file)) != self._content:
                self._content = content
                try:
                    self._keys = _parse(content, self._file)
                    _log.info("keys read", keys=len(self._keys.keys))
                except ConfigError as error:
                    _log.warning("the file of keys is ignored; the keys are as before", reason=str(error))
        return self._keys


def new_key(name: str, tenant: str, roles: Sequence[Role], expires: date | None = None) -> tuple[str, str]:
    """A fresh key, and its entry for the file of keys, which does not hold the key itself."""
    key = f"dr-{secrets.token_urlsafe(32)}"
    given = {"name": name, "tenant": tenant, "roles": [*roles]}
    lines = [f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in given.items()]
    lines += [f"expires = {expires.isoformat()}"] if expires else []
    return key, "\n".join(["[[key]]", *lines, f'sha256 = "{digest_of(key)}"', ""])


def digest_of(key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def _content(file: Path) -> bytes | None:
    """What the file holds; None if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def _parse(content: bytes | None, file: Path) -> Keys:
    if content is None:
        raise ConfigError(f"The file of keys {file} cannot be read.", hint="Check its path and who may read it.")
    try:
        found = _File.model_validate(tomllib.loads(content.decode()))
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"Keys in {file}: {said}.", hint=_HINT) from error
    except ValueError as error:
        raise ConfigError(f"The file of keys {file} cannot be read: {error}.", hint=_HINT) from error
    keys, tenants = {k.sha256: k for k in found.key}, {t.name: t for t in found.tenant}
    if len({k.name for k in found.key}) < len(found.key):
        raise ConfigError(f"Two keys in {file} have the same name.", hint="A key's name is its own.")
    if len(keys) < len(found.key):
        raise ConfigError(f"Two entries in {file} are for the same key.", hint=_HINT)
    if len(tenants) < len(found.tenant):
        raise ConfigError(f"Two entries in {file} are for the same tenant.", hint="Make them one.")
    return Keys(keys, tenants)


def audit(what: str, who: Principal | None, *, corpus: str | None = None, documents: Iterable[str] = ()) -> None:
    """A line of the audit log: who did ``what`` to which documents, with the request's id; ids only, never a text."""
    key = {"key": who.name, "tenant": who.tenant} if who else {}
    structlog.get_logger(LOGGER).info(what, **key, corpus=corpus, documents=sorted(set(documents)))


class Access:
    """The keys of a server and how often each was used of late. Without a file of keys everybody is ``anyone``.

    Raises:
        ConfigError: The file of keys cannot be read, or there is none and the host is not loopback.
    """

    def __init__(self, settings: Settings) -> None:
        api = settings.api
        if api.keys is None and not _is_loopback(api.host):
            raise ConfigError(
                f"The API would listen on {api.host} without keys.",
                hint="Set DISCO_RAG_API__KEYS (disco-rag key makes one), or listen on 127.0.0.1.",
            )
        self._anyone = Principal(name="anyone", tenant=settings.tenant, roles=frozenset(Role))
        self._file = KeyFile(api.keys) if api.keys else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._per_minute, self._quota = api.requests_per_minute, api.quota

    def who(self, key: str | None) -> Principal:
        """Whose key this is. Raises `RefusedError` (401) if it is nobody's, or no longer."""
        if self._file is None:
            return self._anyone
        found = self._file.now().keys.get(digest_of(key)) if key else None
        if found is None:
            said = "Not a key of this server." if key else "A key is needed."
            raise _unauthorized("NoKeyError", said, "Send Authorization: Bearer KEY.")
        if found.expires and datetime.now(UTC).date() >= found.expires:
            raise _unauthorized(
                "ExpiredKeyError", f"This key expired on {found.expires}.", "Ask the operator for a new one."
            )
        return Principal(name=found.name, tenant=found.tenant, roles=found.roles)

    def quota(self, tenant: str) -> QuotaSettings:
        """What this tenant may have."""
        own = self._file.now().tenants.get(tenant) if self._file else None
        return self._quota.model_copy(update=own.model_dump(exclude_none=True, exclude={"name"}) if own else {})

    async def count(self, who: Principal) -> None:
        """Count a request. Raises `RefusedError` (429) if that is one too many."""
        await self._check_rate(self._per_minute, "requests", who.name, "raise DISCO_RAG_API__REQUESTS_PER_MINUTE")

    async def count_question(self, who: Principal) -> None:
        """Count a question of a tenant. Raises `RefusedError` (429) if that is one too many."""
        most = self.quota(who.tenant).questions_per_minute
        await self._check_rate(most, "questions", who.tenant, "ask the operator for more")

    async def _check_rate(self, most: int, what: str, name: str, otherwise: str) -> None:
        rate = RateLimitItemPerMinute(most)
        if await self._limiter.hit(rate, what, name):
            return
        reset = (await self._limiter.get_window_stats(rate, what, name)).reset_time
        wait = max(1, math.ceil(reset - time()))
        raise RefusedError(
            429,
            "TooManyRequestsError",
            f"More than {most} {what} a minute.",
            hint=f"Wait {wait} s, or {otherwise}.",
            headers={"Retry-After": str(wait)},
        )

    @property
    def is_open(self) -> bool:
        """Whether there are no keys."""
        return self._file is None


def check_site(request: Request) -> None:
    """Turn away what a web page of another site sends to a server without keys. Raises `RefusedError` (403)."""
    if not _is_from_here(request):
        raise RefusedError(403, "ForeignSiteError", "Web pages of other sites may not use a server without keys.")


def _unauthorized(kind: str, said: str, hint: str) -> RefusedError:
    return RefusedError(401, kind, said, hint=hint, headers={"WWW-Authenticate": "Bearer"})


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_from_here(request: Request) -> bool:
    """Whether a browser would say that a page of this machine asks, and asks this machine (no rebound DNS name)."""
    origin = request.headers.get("origin")
    try:
        sites = [urlsplit(f"//{request.headers.get('host', '')}"), *([urlsplit(origin)] if origin is not None else [])]
        return all(_is_loopback(site.hostname or "") for site in sites)
    except ValueError:  # no URL
        return False


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
            raise _over_quota(said, "Wait until one has, or cancel one: DELETE /ingest/JOB.", **_LATER)
        count, stored = await asyncio.to_thread(self._table.uploaded, tenant)
        if count + self._files[tenant] + files > quota.documents:
            raise _over_quota(
                f"There would be more than {quota.documents} documents.", "Delete some: DELETE /documents/ID."
            )
        if stored + self._bytes[tenant] + size > quota.storage_mb * 1_000_000:
            said = f"The files kept would have more than {quota.storage_mb:g} MB."
            raise _over_quota(said, "Delete documents: DELETE /documents/ID.")

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


def _over_quota(said: str, hint: str, **headers: str) -> RefusedError:
    return RefusedError(429, "QuotaError", said, hint=hint, headers=headers)
