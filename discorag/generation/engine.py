"""What every engine of the plan does."""

from __future__ import annotations

from typing import Protocol

from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.plan import Plan


class PlanEngine(Protocol):
    """Plans the answer."""

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """The plan for ``case``. Raises `ModelError` when a language model fails."""
        ...
