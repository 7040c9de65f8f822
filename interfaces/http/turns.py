"""Whose turn it is: what runs next, questions and uploaded files alike, is decided here.

Both have places of their own, so that neither waits for the other: a processor that questions keep busy is shared with
the files at work. Within each kind, tenants take turns.
"""

import asyncio
import os
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from discorag.config import QuotaSettings
from interfaces.http.access import over_quota

FEWEST = 2
"""Places of questions on a machine with one processor: a short question need not wait for a long one."""
RETRY_S = 5
"""When a question that was one too many should be asked again, in seconds."""


def places_of_questions(calls: int) -> int:
    """How many questions run at once: one per processor, and as many as there are calls of the language model at once.

    A question without a language model keeps a processor busy: more at once would only slow each other down. One that
    waits for a model needs no processor; with a place for each call, those that wait never keep the others out.

    Args:
        calls: The most calls of the language model at once; 0 if there is none.
    """
    return max(FEWEST, os.cpu_count() or 1) + calls


class Turns:
    """The places in which work of one kind runs.

    The next place goes to the tenant with the least work under way; of several, to the one whose last turn is longest
    ago. One place beyond ``places`` is for a tenant without any work under way: long work delays only its own tenant.

    Args:
        places: How much runs at once.
        most: How much of one tenant runs at once; None: no limit of its own.
    """

    def __init__(self, places: int, most: int | None = None) -> None:
        self._places, self._most = places, places if most is None else most
        self._under_way = Counter[str]()
        self._last = Counter[str]()  # tenant -> number of its last turn

    def is_free(self, tenant: str) -> bool:
        """Whether there is a place for this tenant."""
        own, total = self._under_way[tenant], self._under_way.total()
        return own < self._most and (total < self._places or (total == self._places and not own))

    def order(self, tenant: str) -> tuple[int, int]:
        """The tenant with the smallest of these has the next turn."""
        return self._under_way[tenant], self._last[tenant]

    def begin(self, tenant: str) -> None:
        """Take a place."""
        self._under_way[tenant] += 1
        self._last[tenant] = 1 + max(self._last.values(), default=0)

    def end(self, tenant: str) -> None:
        """Free a place."""
        self._under_way[tenant] -= 1


class QuestionTurns:
    """The questions of a server, each with a place or waiting for one. For one event loop.

    Args:
        places: How many run at once.
        quota: How many of one tenant run and wait.
    """

    def __init__(self, places: int, quota: QuotaSettings) -> None:
        self._turns = Turns(places, quota.questions)
        self._most_waiting = quota.waiting
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    def check(self, tenant: str) -> None:
        """Raises `RefusedError` (429) if a question of this tenant had to wait, and as many as may wait already do."""
        if len(self._waiting.get(tenant, ())) >= self._most_waiting and not self._turns.is_free(tenant):
            message = f"{self._most_waiting} questions of this tenant wait already; this one was not kept."
            hint = f"Ask again in {RETRY_S} s, or raise DISCO_RAG_API__QUOTA__WAITING."
            raise over_quota(message, hint, retry_s=RETRY_S)

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncGenerator[None]:
        """Wait for a place, and hold it in this block. Raises as `check`."""
        self.check(tenant)
        await self._wait(tenant)
        try:
            yield
        finally:
            self._turns.end(tenant)
            self._call()

    async def _wait(self, tenant: str) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(place)
        self._call()
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._leave(tenant, place)
            else:  # it was given in the same moment
                self._turns.end(tenant)
                self._call()
            raise

    def _call(self) -> None:
        """Give the free places to those whose turn it is."""
        while free := [tenant for tenant in self._waiting if self._turns.is_free(tenant)]:
            tenant = min(free, key=self._turns.order)
            place = self._waiting[tenant][0]
            self._leave(tenant, place)
            if not place.cancelled():
                self._turns.begin(tenant)
                place.set_result(None)

    def _leave(self, tenant: str, place: asyncio.Future[None]) -> None:
        """Take a question out of those that wait, if it is among them."""
        queue = self._waiting.get(tenant, deque())
        if place in queue:
            queue.remove(place)
        if not queue:
            self._waiting.pop(tenant, None)
