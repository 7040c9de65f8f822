"""What every engine of the rhetorical graph does, and which engines there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.types.case import Case, Outcome
from discorag.types.graph import RhetoricalGraph


class GraphEngine(Protocol):
    """Infers the relations between chunks."""

    async def relate(self, case: Case) -> Outcome[RhetoricalGraph]:
        """The graph over ``case.chunks``. Raises `ModelError` when a language model fails."""
        ...


RELATION_ENGINES = Registry[Callable[[Toolbox], GraphEngine]]("relation engine", "disco_rag.relation_engines")
"""Engines by name, as ``relater=`` knows them; ``llm`` besides is a turn of the conversation (`discorag.prompted`)."""

register_relation_engine = RELATION_ENGINES.register

RELATION_ENGINES.offer("local", "discorag.relations.learned:learned_engine", "learned from GUM, and what texts state")
RELATION_ENGINES.offer("rules", "discorag.relations.rules:rule_engine", "stated cues and similarity only")
