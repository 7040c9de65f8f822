"""What every verifier does, and which verifiers there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.schema.answer import Answer
from discorag.schema.answer_inputs import AnswerInputs
from discorag.schema.usage import Usage


class Verifier(Protocol):
    """Traces a draft to its sources."""

    async def verify(self, inputs: AnswerInputs, draft: str) -> Answer:
        """Return the draft's sentences, each with what was found out about it, its evidence and the reason.

        Args:
            inputs: With the chunks, graph and plan that the draft was made from.
            draft: Text whose sentences cite chunks as ``[2]`` or units as ``[2.3]``.

        Raises:
            ModelError: A model failed.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """What a verifier has besides if it asks a language model; one is made for each question."""

    @property
    def usage(self) -> Usage:
        """What its calls have cost so far."""
        ...

    @property
    def prompt_hash(self) -> str:
        """Digest of the prompt file; empty if it asked nothing."""
        ...


VERIFIERS = Registry[Callable[[Toolbox], Verifier]]("verifier", "disco_rag.verifiers")
"""Verifiers by name, as ``verifier=`` knows them."""

register_verifier = VERIFIERS.register

VERIFIERS.offer("auto", "discorag.verification.nli:auto_verifier", "the NLI model if one is configured, else nothing")
VERIFIERS.offer("nli", "discorag.verification.nli:nli_verifier", "the NLI model, by name or folder, or served")
VERIFIERS.offer("llm", "discorag.verification.llm:llm_verifier", "the language model, one call for all sentences")
