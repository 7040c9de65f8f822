"""What the engines of graph, plan and answer have in common: one case in, one outcome out.

Each discourse step has two engines behind one protocol: ``local`` (rules, no language model) and ``llm``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from discorag.schema.chunk import Chunk
from discorag.schema.graph import RhetoricalGraph
from discorag.schema.ledger import Failure
from discorag.schema.plan import Plan
from discorag.schema.usage import Usage

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
Detail = Literal["enough", "full"]
Known = dict[str, tuple[tuple[Chunk, ...], Any]]
"""What was computed, and of which chunks, by name."""


@dataclass(frozen=True, kw_only=True)
class AnswerInputs:
    """A query and what is known so far. Structures that are switched off are absent.

    Args:
        query: The user's question.
        instruction: How the user wants it answered (format, length, options); the local engines do not read it.
        detail: How much the local engines tell: until nothing adds, or all that is relevant.
        chunks: Retrieved chunks, best first; number i of a prompt or plan is ``chunks[i - 1]``. Without trees when
            trees are switched off.
        graph: The rhetorical graph; None before it is made and when it is switched off.
        plan: The plan; likewise.
        turns: What a language model wrote in earlier turns, verbatim, by stage (``graph``, ``plan``).
        known: What stages computed of which chunks, by name, so that the next one need not.

    Example:
        >>> from discorag.schema.answer_inputs import AnswerInputs
        >>> inputs = AnswerInputs(query="Why do tides rise?", chunks=(chunk,))
        >>> inputs.number(chunk.id), inputs.graph
        (1, None)
    """

    query: str
    chunks: tuple[Chunk, ...]
    instruction: str = ""
    detail: Detail = "enough"
    graph: RhetoricalGraph | None = None
    plan: Plan | None = None
    turns: dict[str, str] = field(default_factory=dict[str, str])
    known: Known = field(default_factory=Known, compare=False, repr=False)

    def number(self, chunk_id: str) -> int:
        """One-based number of a chunk; ``ValueError`` if it is not in the case."""
        return [c.id for c in self.chunks].index(chunk_id) + 1


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[T_co]):
    """What an engine made: the value, the verbatim text of a language model's turn, and what it cost.

    ``counts`` has what the ledger should tell of it, by its name; ``failures`` what is wrong with it although it is
    used: that it was cut off, say.

    Example:
        >>> from discorag.schema.answer_inputs import Outcome
        >>> from discorag.schema.usage import Usage
        >>> outcome = Outcome(value="Tides rise [1].", usage=Usage(tokens_in=40, tokens_out=5, calls=1))
        >>> outcome.value, outcome.usage.total
        ('Tides rise [1].', 45)
    """

    value: T_co
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = ""
    failures: tuple[Failure, ...] = ()
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def holding(self, value: U) -> Outcome[U]:
        """The same with another value: what was made of the first."""
        made = {name: getattr(self, name) for name in ("text", "usage", "prompt_hash", "failures", "counts")}
        return Outcome(value=value, **made)
