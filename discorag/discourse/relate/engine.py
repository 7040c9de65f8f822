"""What every engine of the rhetorical graph does, and which engines there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.graph import RhetoricalGraph


class GraphEngine(Protocol):
    """Infers the relations between chunks."""

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """The graph over ``case.chunks``. Raises `ModelError` when a language model fails."""
        ...


RELATION_ENGINES = Registry[Callable[[Toolbox], GraphEngine]]("relation engine", "disco_rag.relation_engines")
"""Engines by name, for ``relater=``; ``llm`` is a turn of the conversation instead (`discorag.generation.prompted`)."""

register_relation_engine = RELATION_ENGINES.register

RELATION_ENGINES.offer(
    "local", "discorag.discourse.relate.learned:learned_engine", "learned from GUM, and what texts state"
)
RELATION_ENGINES.offer("rules", "discorag.discourse.relate.rules:rule_engine", "stated cues and similarity only")
