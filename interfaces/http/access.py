"""Keys and their roles, rate limits of keys and tenants, and the tenants' quotas of documents, bytes and jobs.

The key file is read with every request. Replace it as a whole: write another file and rename it, so that a
half-written file is never read.
"""

import hashlib
import json
import math
import secrets
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from time import time
from typing import Self
from urllib.parse import urlsplit

import structlog
from fastapi import Request
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from discorag.config import QuotaSettings, Settings
from discorag.schema.document import Scope
from discorag.schema.errors import ConfigError
from discorag.store.uploads import JobTable
from interfaces.http.problems import RefusedError

WRONG_KEYS = 60
"""Requests a minute from one address that may come without a valid key."""
LOGGER = "disco_rag.audit"
"""The logger of the audit log."""
_HINT = "disco-rag key NAME prints an entry."
_NO_KEYS = "this server has no keys: everyone on this machine may read and change everything"
_ADD_KEYS = (
    "Append what 'disco-rag key NAME --tenant default --role read --role write' prints to a file, and name the file in "
    "DISCO_RAG_API__KEYS (docs/deploy.md)."
)
_log = structlog.get_logger("disco_rag.api")


class Role(StrEnum):
    """What a key is for."""

    READ = "read"  # ask, and look at documents and trees
    WRITE = "write"  # ingest and delete
    OPERATE = "operate"  # read the metrics, which are of all tenants


class Principal(BaseModel):
    """The caller: the key's name, for logs; the tenant, to which everything is limited; and its roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    tenant: str = Field(min_length=1)
    roles: frozenset[Role]

    def check(self, role: Role) -> None:
        """Raises `RefusedError` (403) if the key does not have this role."""
        if role not in self.roles:
            raise RefusedError(403, "RoleError", f"This key may not {role}.", hint="Use a key with this role.")


class Key(Principal):
    """An entry of the key file (`DISCO_RAG_API__KEYS`)."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class _Entries(BaseModel):
    """The content of the key file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: tuple[Key, ...] = ()

    @model_validator(mode="after")
    def _check_unique(self) -> Self:
        for what, values in (("key name", {k.name for k in self.key}), ("key", {k.sha256 for k in self.key})):
            if len(values) < len(self.key):
                raise ValueError(f"two entries have the same {what}")
        return self


class KeyFile:
    """The keys as the file has them now. A file that cannot be read or parsed changes nothing, and is logged once."""

    def __init__(self, file: Path) -> None:
        self._file, self._content = file, _content(file)
        self._entries = _parse(self._content, file)
        if not self._entries.key:
            raise ConfigError(f"There is no key in {file}.", hint=_HINT)

    def key(self, digest: str) -> Key | None:
        """The key with this SHA-256; an emptied file has none."""
        if (content := _content(self._file)) != self._content:
            self._content = content
            try:
                self._entries = _parse(content, self._file)
                _log.info("keys read", keys=len(self._entries.key))
            except ConfigError as error:
                _log.warning("the key file is ignored; the keys are as before", reason=str(error))
        return next((key for key in self._entries.key if key.sha256 == digest), None)


def new_key(name: str, tenant: str, roles: Sequence[Role]) -> tuple[str, str]:
    """Return a new key, and its entry for the key file, which does not hold the key itself."""
    key = f"dr-{secrets.token_urlsafe(32)}"
    fields = {"name": name, "tenant": tenant, "roles": [*roles]}
    lines = [f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in fields.items()]
    return key, "\n".join(["[[key]]", *lines, f'sha256 = "{digest_of(key)}"', ""])


def digest_of(key: str) -> str:
    """The SHA-256 of a key, which the key file has in its place."""
    return hashlib.sha256(key.encode()).hexdigest()


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _parse(content: bytes | None, file: Path) -> _Entries:
    if content is None:
        raise ConfigError(f"The key file {file} cannot be read.", hint="Check its path and its permissions.")
    try:
        return _Entries.model_validate(tomllib.loads(content.decode()))
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}".lstrip(": ") for e in error.errors())
        raise ConfigError(f"Keys in {file}: {problems}.", hint=_HINT) from error
    except ValueError as error:
        raise ConfigError(f"The key file {file} cannot be read: {error}.", hint=_HINT) from error


def log_access(action: str, who: Principal | None, *, corpus: str | None = None, documents: Iterable[str] = ()) -> None:
    """Write a line of the audit log: who did what to which documents, with the request's id; ids only, never a text."""
    key = {"key": who.name, "tenant": who.tenant} if who else {}
    structlog.get_logger(LOGGER).info(action, **key, corpus=corpus, documents=sorted(set(documents)))


class Access:
    """The keys of a server, and their rates. Without a key file every caller is ``anyone``.

    Raises:
        ConfigError: The key file cannot be read, or there is none although other machines could reach the server.
    """

    def __init__(self, settings: Settings) -> None:
        api = settings.api
        if api.keys is None and not _is_loopback(api.host):
            if not api.published_locally:
                raise ConfigError(
                    f"The API would listen on {api.host} without keys.",
                    hint="Set DISCO_RAG_API__KEYS (disco-rag key makes one), or listen on 127.0.0.1.",
                )
            _log.warning(_NO_KEYS, hint=_ADD_KEYS)
        self._anyone = Principal(name="anyone", tenant=settings.tenant, roles=frozenset(Role))
        self._file = KeyFile(api.keys) if api.keys else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._rate = RateLimitItemPerMinute(api.requests_per_minute)

    async def count_refused(self, address: str) -> None:
        """Count a request without a valid key. Raises `RefusedError` (429) after `WRONG_KEYS` of them in a minute."""
        if not await self._limiter.hit(RateLimitItemPerMinute(WRONG_KEYS), "refused", address):
            message = f"More than {WRONG_KEYS} requests a minute without a valid key."
            hint = "Wait a minute, and check the key."
            raise RefusedError(429, "TooManyRequestsError", message, hint=hint, headers={"Retry-After": "60"})

    def who(self, key: str | None) -> Principal:
        """Return the owner of a key. Raises `RefusedError` (401) if the key is unknown."""
        if self._file is None:
            return self._anyone
        found = self._file.key(digest_of(key)) if key else None
        if found is None:
            message = "Not a key of this server." if key else "A key is needed."
            headers = {"WWW-Authenticate": "Bearer"}
            raise RefusedError(401, "NoKeyError", message, hint="Send Authorization: Bearer KEY.", headers=headers)
        return found

    async def count(self, who: Principal) -> None:
        """Count a request. Raises `RefusedError` (429) if it is one too many."""
        if await self._limiter.hit(self._rate, who.name):
            return
        reset = (await self._limiter.get_window_stats(self._rate, who.name)).reset_time
        wait = max(1, math.ceil(reset - time()))
        raise RefusedError(
            429,
            "TooManyRequestsError",
            f"More than {self._rate.amount} requests a minute.",
            hint=f"Wait {wait} s, or raise DISCO_RAG_API__REQUESTS_PER_MINUTE.",
            headers={"Retry-After": str(wait)},
        )

    @property
    def is_open(self) -> bool:
        """Whether the server has no keys."""
        return self._file is None


def check_site(request: Request) -> None:
    """Refuse web pages of other sites, even if their name resolves to this machine. Raises `RefusedError` (403)."""
    origin = request.headers.get("origin")
    try:
        sites = [urlsplit(f"//{request.headers.get('host', '')}"), *([urlsplit(origin)] if origin is not None else [])]
        is_local = all(_is_loopback(site.hostname or "") for site in sites)
    except ValueError:  # not a URL
        is_local = False
    if not is_local:
        raise RefusedError(403, "ForeignSiteError", "Web pages of other sites may not use a server without keys.")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Quotas:
    """Checks uploads against the quotas, as the database's rows say. All methods block.

    Args:
        quota: The quotas, the same for every tenant.
        table: Uploads and jobs. A check inside `JobTable.add` also counts what is being added.
    """

    def __init__(self, quota: QuotaSettings, table: JobTable) -> None:
        self._quota, self._table = quota, table

    def check(self, tenant: str, *, jobs: int = 0, files: int = 0, size: int = 0) -> None:
        """Raises `RefusedError` (429) if this many more jobs, files or bytes would exceed a quota."""
        quota = self._quota
        if self._table.under_way(tenant) + jobs > quota.jobs:
            message, hint = f"{quota.jobs} jobs have not ended.", "Wait for one, or cancel one: DELETE /ingest/JOB."
            raise over_quota(message, hint, retry_s=10)
        count, stored = self._table.upload_usage(tenant)
        if count + files > quota.documents:
            message = f"There would be more than {quota.documents} documents."
            raise over_quota(message, "Delete some: DELETE /documents/ID.")
        if stored + size > quota.storage_mb * 1_000_000:
            message = f"The stored files would have more than {quota.storage_mb:g} MB."
            raise over_quota(message, "Delete documents: DELETE /documents/ID.")

    def check_files(self, scope: Scope, sizes: Mapping[str, int]) -> None:
        """Check a job for these files, name -> bytes; a file replaces one of the same name. Raises as `check`."""
        new = len(sizes.keys() - self._table.known_uploads(scope))
        self.check(scope.tenant, jobs=1, files=new, size=sum(sizes.values()))


def over_quota(message: str, hint: str, *, retry_s: int | None = None) -> RefusedError:
    """The refusal (429) of what exceeds a quota; ``retry_s``: seconds after which it may be tried again."""
    headers = {"Retry-After": str(retry_s)} if retry_s else None
    return RefusedError(429, "QuotaError", message, hint=hint, headers=headers)
