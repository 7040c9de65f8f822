"""What every engine of the rhetorical graph does."""

from __future__ import annotations

from typing import Protocol

from discorag.types.case import Case, Outcome
from discorag.types.graph import RhetoricalGraph


class GraphEngine(Protocol):
    """Infers the relations between chunks."""

    async def relate(self, case: Case) -> Outcome[RhetoricalGraph]:
        """The graph over ``case.chunks``. Raises `ModelError` when a language model fails."""
        ...
