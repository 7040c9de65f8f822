"""Who asks, by key, and how often: a key has only so many requests a minute, a tenant so many questions."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from ipaddress import ip_address
from time import time
from typing import Self
from urllib.parse import urlsplit

from fastapi import Request
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from discorag.config import QuotaSettings, Settings
from discorag.schema.errors import ConfigError
from interfaces.http.keys import KeyFile, Principal, Role, digest_of
from interfaces.http.problems import RefusedError


class Rates:
    """How often something was done within the last minute."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    async def hit(self, what: str, name: str, most: int) -> int:
        """Count it, unless that were more than ``most`` a minute: then the seconds to wait, else 0."""
        rate = RateLimitItemPerMinute(most)
        if await self._limiter.hit(rate, what, name):
            return 0
        reset = (await self._limiter.get_window_stats(rate, what, name)).reset_time
        return max(1, math.ceil(reset - time()))


class Access:
    """The keys of a server and how often each was used of late.

    Args:
        file: The keys; None: everybody is ``anyone``.
        anyone: Who asks where there are no keys.
        per_minute: Requests of one key.
        quota: What a tenant may have of which the file says nothing.
    """

    def __init__(self, file: KeyFile | None, anyone: Principal, *, per_minute: int, quota: QuotaSettings) -> None:
        self._file = file
        self._anyone = anyone
        self._rates = Rates()
        self._per_minute = per_minute
        self._quota = quota

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
        file = KeyFile(api.keys) if api.keys else None
        return cls(file, anyone, per_minute=api.requests_per_minute, quota=api.quota)

    def who(self, key: str | None) -> Principal:
        """Whose key this is. Raises `RefusedError` (401) if it is nobody's, or no longer."""
        if self._file is None:
            return self._anyone
        found = self._file.now().keys.get(digest_of(key)) if key else None
        if found is None:
            said = "Not a key of this server." if key else "A key is needed."
            raise _nobody("NoKeyError", said, "Send Authorization: Bearer KEY.")
        if found.expires and datetime.now(UTC).date() >= found.expires:
            raise _nobody("ExpiredKeyError", f"This key expired on {found.expires}.", "Ask the operator for a new one.")
        return Principal(name=found.name, tenant=found.tenant, roles=found.roles)

    def quota(self, tenant: str) -> QuotaSettings:
        """What this tenant may have."""
        own = self._file.now().tenants.get(tenant) if self._file else None
        return self._quota.model_copy(update=own.model_dump(exclude_none=True, exclude={"name"}) if own else {})

    async def count(self, who: Principal) -> None:
        """Count a request. Raises `RefusedError` (429) if that is one too many."""
        await self._hit(self._per_minute, "requests", who.name, "raise DISCO_RAG_API__REQUESTS_PER_MINUTE")

    async def count_question(self, who: Principal) -> None:
        """Count a question of a tenant. Raises `RefusedError` (429) if that is one too many."""
        most = self.quota(who.tenant).questions_per_minute
        await self._hit(most, "questions", who.tenant, "ask the operator for more")

    async def _hit(self, most: int, what: str, name: str, otherwise: str) -> None:
        wait = await self._rates.hit(what, name, most)
        if not wait:
            return
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


def _nobody(kind: str, said: str, hint: str) -> RefusedError:
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
