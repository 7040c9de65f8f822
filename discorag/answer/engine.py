"""What every engine of the plan does."""

from __future__ import annotations

from typing import Protocol

from discorag.types.case import Case, Outcome
from discorag.types.plan import Plan


class PlanEngine(Protocol):
    """Plans the answer."""

    async def plan(self, case: Case) -> Outcome[Plan]:
        """The plan for ``case``. Raises `ModelError` when a language model fails."""
        ...
