"""Whose file is read next: tenants in turn, then a tenant's jobs in turn, then a job's files in order."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from time import monotonic

from discorag.types.document import Scope

RECENT_S = 60.0


@dataclass(frozen=True)
class Turn:
    """A file of a job that is to be read: the ``index``-th."""

    job: str
    scope: Scope
    index: int
    name: str


class Turns:
    """The files that wait.

    Args:
        at_once: Files that are read at once. A tenant alone gets all places but one, so that others find one free;
            those that sent files within `RECENT_S` share them.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._sent: dict[str, float] = {}  # tenant -> when it sent its last file
        self._tenants: dict[str, dict[str, deque[Turn]]] = {}

    def add(self, turns: Sequence[Turn]) -> None:
        """Put files behind those of the same job, a new job behind those of its tenant."""
        for turn in turns:
            self._sent[turn.scope.tenant] = monotonic()
            self._tenants.setdefault(turn.scope.tenant, {}).setdefault(turn.job, deque()).append(turn)

    def drop(self, tenant: str, job: str) -> None:
        """Forget the files of a job."""
        self._tenants.get(tenant, {}).pop(job, None)

    def jobs(self, tenant: str | None = None) -> set[str]:
        """Jobs, of this tenant or of all, with files that wait."""
        return {job for name, jobs in self._tenants.items() if tenant in (None, name) for job in jobs}

    def next(self, at_work: Collection[Turn]) -> Turn | None:
        """Take the file that is next, if there is room beside those that are at work."""
        if len(at_work) >= self._at_once:
            return None
        share = self._share()
        taken = Counter(turn.scope.tenant for turn in at_work)
        busy = {(turn.scope, turn.name) for turn in at_work}  # two runs over one file would replace each other
        for tenant, jobs in self._tenants.items():
            if taken[tenant] >= share:
                continue
            for job, files in jobs.items():
                if (files[0].scope, files[0].name) not in busy:
                    return self._take(tenant, job)
        return None

    def _share(self) -> int:
        """Places of a tenant."""
        recent = monotonic() - RECENT_S
        self._sent = {t: at for t, at in self._sent.items() if at > recent or t in self._tenants}
        return max(1, min(self._at_once - 1, self._at_once // max(1, len(self._sent))))

    def _take(self, tenant: str, job: str) -> Turn:
        """The job's first file; job and tenant go behind the others."""
        jobs = self._tenants.pop(tenant)
        files = jobs.pop(job)
        turn = files.popleft()
        if files:
            jobs[job] = files
        if jobs:
            self._tenants[tenant] = jobs
        return turn
