"""Who may do what: API keys are tenants and roles, and a key has only so many requests a minute."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import tomllib
from collections.abc import Callable, Coroutine, Sequence
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from time import time
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discorag.settings import Settings
from discorag.types.errors import ConfigError
from graphs.serving.problems import RefusedError

_BEARER = HTTPBearer(auto_error=False, description="An API key; not needed where the server has none.")


class Role(StrEnum):
    """What a key is for."""

    READ = "read"  # ask, and look at documents and trees
    WRITE = "write"  # ingest and delete
    OPERATE = "operate"  # metrics


class Principal(BaseModel):
    """Who asks: the key's name, for logs; the tenant, to which everything is limited; and its roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    tenant: str = Field(min_length=1)
    roles: frozenset[Role]


class _Key(Principal):
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: list[_Key] = Field(min_length=1)


class Access:
    """The keys of a server and how often each was used of late.

    Args:
        keys: Digest (SHA-256, hexadecimal) -> whose key it is; empty: everybody is ``anyone``.
        anyone: Who asks where there are no keys.
        per_minute: Requests of one key.
    """

    def __init__(self, keys: dict[str, Principal], anyone: Principal, *, per_minute: int) -> None:
        self._keys = keys
        self._anyone = anyone
        self._rate = RateLimitItemPerMinute(per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As configured.

        Raises:
            ConfigError: The file of keys cannot be read, or there is none and the host is not loopback.
        """
        api = settings.api
        if api.keys is None and not _is_loopback(api.host):
            raise ConfigError(
                f"The API would listen on {api.host} without keys.",
                hint="Set DISCO_RAG_API__KEYS (disco-rag key makes one), or listen on 127.0.0.1.",
            )
        anyone = Principal(name="anyone", tenant=settings.tenant, roles=frozenset(Role))
        return cls(_read(api.keys) if api.keys else {}, anyone, per_minute=api.requests_per_minute)

    def who(self, key: str | None) -> Principal:
        """Whose key this is. Raises `RefusedError` (401) if it is nobody's."""
        if not self._keys:
            return self._anyone
        found = self._keys.get(_digest(key)) if key else None
        if found is None:
            said = "Not a key of this server." if key else "A key is needed."
            header = {"WWW-Authenticate": "Bearer"}
            raise RefusedError(401, "NoKeyError", said, hint="Send Authorization: Bearer KEY.", headers=header)
        return found

    async def count(self, who: Principal) -> None:
        """Count a request. Raises `RefusedError` (429) if that is one too many."""
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
        """Whether there are no keys."""
        return not self._keys


def allowed(role: Role) -> Callable[..., Coroutine[Any, Any, Principal]]:
    """A dependency that gives the principal if it has this role, and counts the request.

    A server without keys answers this machine only, so it also turns away what a web page of another site sends there.
    """

    async def check(
        request: Request, key: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None
    ) -> Principal:
        access: Access = request.app.state.service.access
        who = access.who(key.credentials if key else None)
        request.state.who = who
        if access.is_open and not _is_from_here(request):
            raise RefusedError(403, "ForeignSiteError", "Web pages of other sites may not use a server without keys.")
        await access.count(who)
        if role not in who.roles:
            raise RefusedError(403, "RoleError", f"This key may not {role}.", hint="Use a key with this role.")
        return who

    return check


Reader = Annotated[Principal, Depends(allowed(Role.READ))]
Writer = Annotated[Principal, Depends(allowed(Role.WRITE))]


def new_key(name: str, tenant: str, roles: Sequence[Role]) -> tuple[str, str]:
    """A fresh key, and its entry for the file of keys, which does not hold the key itself."""
    key = f"dr-{secrets.token_urlsafe(32)}"
    listed = ", ".join(f'"{role}"' for role in roles)
    lines = (f"name = {_quoted(name)}", f"tenant = {_quoted(tenant)}", f"roles = [{listed}]")
    return key, "\n".join(["[[key]]", *lines, f'sha256 = "{_digest(key)}"', ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _read(file: Path) -> dict[str, Principal]:
    hint = "disco-rag key NAME prints an entry."
    try:
        with file.open("rb") as stream:
            entries = _File.model_validate(tomllib.load(stream)).key
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"Keys in {file}: {said}.", hint=hint) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"The file of keys {file} cannot be read: {error}.", hint=hint) from error
    if len({entry.name for entry in entries}) < len(entries):
        raise ConfigError(f"Two keys in {file} have the same name.", hint="A key's name is its own.")
    if len({entry.sha256 for entry in entries}) < len(entries):
        raise ConfigError(f"Two entries in {file} are for the same key.", hint=hint)
    return {e.sha256: Principal(name=e.name, tenant=e.tenant, roles=e.roles) for e in entries}


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


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
