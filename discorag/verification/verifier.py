"""What every verifier does, and which verifiers there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.types.answer import Answer
from discorag.types.case import Case


class Verifier(Protocol):
    """Traces a draft to its sources."""

    async def verify(self, case: Case, draft: str) -> Answer:
        """The draft's sentences, each with the spans that support it or with the reason why none does.

        Args:
            case: With the chunks, graph and plan that the draft was made from.
            draft: Text whose sentences cite chunks as ``[2]`` or units as ``[2.3]``.

        Raises:
            ModelError: A model failed.
        """
        ...


VERIFIERS = Registry[Callable[[Toolbox], Verifier]]("verifier", "disco_rag.verifiers")
"""Verifiers by name, as ``verifier=`` knows them."""

register_verifier = VERIFIERS.register

VERIFIERS.offer("local", "discorag.verification.local:local_verifier", "words, figures, polarity and who does what")
