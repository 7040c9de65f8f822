"""Who writes a document, where many processes do: a lease for each, on the server that has the documents.

A lease is a point, as long as somebody writes. What it rests on is what a Qdrant server does (from 1.16 on): a change
with a condition looks at the condition and makes the change in one step, and with strong ordering all replicas of a
point take such changes in one order. It has no transactions over several points, so there are two rules:

- **One does it.** A lease is taken where there is none, or in the place of one whose ``beat`` was the same for the
  whole of `TTL_S`, as this process's own clock has it: clocks of machines are not compared. Its holder changes the beat
  several times in that time.
- **Who is late changes nothing.** A holder that was stopped may go on when another one has taken its place. Each lease
  has a number greater than those before it (`FENCE`); what is written carries the number, and no change replaces or
  deletes what carries a greater one (`discorag.store.server.shared`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from random import uniform
from threading import Event, Lock, Thread
from time import monotonic, sleep, time_ns
from uuid import uuid4

import numpy as np

from discorag.store.shard import FENCE, Payload, Point, SharedShard, Where
from discorag.types.errors import DocumentTakenError, StoreError

TTL_S = 30.0
"""How long a lease lasts whose holder is not heard of."""
BEATS = 4
"""How often it is renewed in that time."""
PATIENCE_S = 120.0
"""How long a change waits for another process that writes the same document."""
PAUSE_S = 0.2
_FIELDS = ("holder", "beat", FENCE)
_NONE = np.zeros(0, np.float32)


@dataclass
class _Held:
    """A lease of this process; ``sure`` until a moment of its clock."""

    holder: str
    fence: int
    sure: float
    users: int = 1
    failed: bool = False


class Leases:
    """The leases of one process. Several threads may ask.

    Args:
        shard: Where they are.
        latest: The number of the lease under which a document was last changed; 0 if there is none.

    Raises:
        StoreError: By any method: the server fails.

    Example:
        >>> from discorag.store.server.leases import Leases
        >>> one, two = (Leases(shards[1], lambda doc_id: 0) for _ in range(2))
        >>> doc_id = sample_of("tides.md", ["Tides rise."]).doc_id
        >>> with one.claim(doc_id) as ours, two.claim(doc_id) as theirs:
        ...     ours, theirs
        (True, False)
    """

    def __init__(self, shard: SharedShard, latest: Callable[[str], int]) -> None:
        self._shard = shard
        self._latest = latest
        self._ttl_s = TTL_S
        self._held: dict[str, _Held] = {}
        self._claimed: set[str] = set()
        self._watched: dict[str, tuple[str, float]] = {}  # of others: the beat, and since when it is that
        self._lock = Lock()
        self._closed = Event()
        self._beating: Thread | None = None

    @contextmanager
    def claim(self, doc_id: str) -> Generator[bool]:
        """Whether the block has this document to itself; not if another process, or another claim, has it."""
        with self._lock:
            free = doc_id not in self._claimed
            if free:
                self._claimed.add(doc_id)
        try:
            if not (free and self._has(doc_id)):
                yield False
                return
            with self._left(doc_id):
                yield True
        finally:
            if free:
                with self._lock:
                    self._claimed.discard(doc_id)

    @contextmanager
    def held(self, doc_id: str) -> Generator[int]:
        """Hold the lease, which threads of one process share, and its number; waits while another process has it.

        Raises:
            DocumentTakenError: That took longer than `PATIENCE_S`.
        """
        end = monotonic() + PATIENCE_S
        while not self._has(doc_id):
            if monotonic() > end:
                raise DocumentTakenError(f"Another process is writing document {doc_id!r}.", hint="Try again.")
            sleep(uniform(0.5, 1.5) * PAUSE_S)
        with self._left(doc_id):
            yield self._held[doc_id].fence

    def fence(self, doc_id: str) -> int:
        """The number of a lease that is held.

        Raises:
            DocumentTakenError: It was lost: this process was stopped for too long.
        """
        held = self._held[doc_id]
        if monotonic() > held.sure:
            self._renew()
        if monotonic() > held.sure:
            raise late(doc_id)
        return held.fence

    def _has(self, doc_id: str) -> bool:
        """Join those of this process that hold the lease, or take it; whether that was done."""
        with self._lock:
            if held := self._held.get(doc_id):
                held.users += 1
        return held is not None or self._taken(doc_id)

    def _taken(self, doc_id: str) -> bool:
        seen = self._shard.agreed([doc_id], _FIELDS).get(doc_id)
        if seen and not self._is_over(doc_id, seen):
            return False
        fence = 1 + max(time_ns() // 1000, self._latest(doc_id), seen[FENCE] if seen else 0)
        held, asked = _Held(str(uuid4()), fence, 0.0), monotonic()
        expected = Where((("beat", (seen["beat"],)),)) if seen else None
        self._shard.upsert_where([_point(doc_id, held)], expected, there=seen is not None)
        if self._shard.agreed([doc_id], _FIELDS).get(doc_id, {}).get("holder") != held.holder:
            return False
        with self._lock:
            held.sure = asked + self._ttl_s
            self._held[doc_id] = held
            self._watched.pop(doc_id, None)
            if self._beating is None:
                self._beating = Thread(target=self._beat, daemon=True)
                self._beating.start()
        return True

    def _is_over(self, doc_id: str, lease: Payload) -> bool:
        """Whether a lease was given back, or not renewed for so long that its holder counts as dead."""
        if not lease["holder"]:
            return True
        with self._lock:
            beat, since = self._watched.get(doc_id, ("", 0.0))
            if beat != lease["beat"]:
                self._watched[doc_id] = lease["beat"], monotonic()
                return False
        return monotonic() - since > self._ttl_s

    @contextmanager
    def _left(self, doc_id: str) -> Generator[None]:
        """Within the block the lease is used; with its last user it goes."""
        held = self._held[doc_id]
        try:
            yield
        except BaseException:
            held.failed = True
            raise
        finally:
            with self._lock:
                held.users -= 1
                if last := held.users == 0:
                    del self._held[doc_id]
            if last:
                with suppress(StoreError):  # then it ends by itself
                    self._give_back(doc_id, held)

    def _give_back(self, doc_id: str, held: _Held) -> None:
        """Where a change failed, it may yet be made: the number stays, so that the next one is greater."""
        mine = Where((("doc_id", (doc_id,)), ("holder", (held.holder,))), fence=held.fence)
        if held.failed:
            self._shard.set_payload_where({"holder": "", "beat": str(uuid4())}, mine)
        else:
            self._shard.delete(mine)

    def _beat(self) -> None:
        while not self._closed.wait(self._ttl_s / BEATS):
            with suppress(StoreError):
                self._renew()

    def _renew(self) -> None:
        """Make the leases last; those that are lost are not made anew."""
        with self._lock:
            held = dict(self._held)
        if not held:
            return
        asked, holders = monotonic(), tuple(h.holder for h in held.values())
        ours = Where((("holder", holders),))
        self._shard.upsert_where([_point(doc_id, h) for doc_id, h in held.items()], ours, there=True)
        found = self._shard.agreed(list(held), _FIELDS)
        for doc_id, lease in held.items():
            if found.get(doc_id, {}).get("holder") == lease.holder:
                lease.sure = asked + self._ttl_s

    def close(self) -> None:
        """Renew no more."""
        self._closed.set()
        if self._beating:
            self._beating.join()


def late(doc_id: str) -> DocumentTakenError:
    """What a writer is told whose lease another process has taken over."""
    said = f"Another process has taken over document {doc_id!r} meanwhile."
    return DocumentTakenError(said, hint="Run it again: what is stored is whole.")


def _point(doc_id: str, held: _Held) -> Point:
    lease = {"doc_id": doc_id, "holder": held.holder, "beat": str(uuid4()), FENCE: held.fence}
    return Point(doc_id, _NONE, lease)
