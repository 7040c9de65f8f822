"""The walk through a document: unfold, select, unfold again, until the router is done.

Source: RDR² section 3.1 (equations 2 to 6) and section 3.3.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Protocol

from discorag.retrieval.routers.subtree import RetrievalSubtree
from discorag.schema.errors import InvalidOutputError, ModelError
from discorag.schema.ledger import Failure
from discorag.schema.usage import Usage

STAGE = "route"


@dataclass(frozen=True)
class Decision:
    """A router's actions in one step, as nodes of the subtree's tree.

    Args:
        answer: Lit leaves that [ANSWER] selects.
        expand: The structure node that [EXPAND] unfolds, at most one; with no ``answer`` and none, it is [REFUSE].
        usage: Tokens of the language model, if one was asked.

    Example:
        >>> from discorag.retrieval.routers.walk import Decision
        >>> decision = Decision(answer=(3,))
        >>> decision.answer, decision.expand
        ((3,), None)
    """

    answer: tuple[int, ...] = ()
    expand: int | None = None
    usage: Usage = field(default_factory=Usage)


class Router(Protocol):
    """Decides the next step in one document."""

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """What to select and what to unfold, among visible nodes.

        Raises:
            ModelError: From routers that call a model.
        """
        ...


class Ending(StrEnum):
    """Why a walk ended.

    ``ANSWERED``: the last step selected passages and unfolded nothing. ``REFUSED``: it did neither. ``LOOP``: it
    unfolded what hides nothing. ``LIMIT``: no expansion was left. ``FAILED``: see the failures.
    """

    ANSWERED = "answered"
    REFUSED = "refused"
    LOOP = "loop"
    LIMIT = "limit"
    FAILED = "failed"


@dataclass(frozen=True)
class Routed:
    """A walk through one document, and what it brought so far.

    Args:
        steps: For each step the leaves that it selected (equation 6); no leaf is in two of them.
        subtree: What is visible now.
        ending: Why it ended; None: it goes on.
        usage: Tokens of all steps.
        failures: What a router could not do; what was selected before stays.

    Example:
        >>> from discorag.retrieval.routers.local import LocalRouter
        >>> from discorag.retrieval.routers.subtree import derive
        >>> from discorag.retrieval.routers.walk import route
        >>> routing = asyncio.run(route("Why does the moon pull the sea?", [derive(tree, [0])], LocalRouter(encoder)))
        >>> routed = routing.documents[0]
        >>> routed.in_step_order, routed.ending.value
        ((0, 1), 'answered')
    """

    steps: tuple[tuple[int, ...], ...] = ()
    subtree: RetrievalSubtree = field(kw_only=True)
    ending: Ending | None = None
    usage: Usage = field(default_factory=Usage)
    failures: tuple[Failure, ...] = ()

    @property
    def in_step_order(self) -> tuple[int, ...]:
        """The routed leaves in the order in which they were selected (equation 5)."""
        return tuple(chain.from_iterable(self.steps))


@dataclass(frozen=True)
class Routing:
    """What was routed for one question; ``documents`` are in the order of the subtrees given.

    Example:
        >>> from discorag.retrieval.routers.local import LocalRouter
        >>> from discorag.retrieval.routers.subtree import derive
        >>> from discorag.retrieval.routers.walk import route
        >>> documents = [derive(tree, [0]), derive(tree, [1])]
        >>> routing = asyncio.run(route("Why does the moon pull the sea?", documents, LocalRouter(encoder)))
        >>> len(routing.documents), routing.usage.calls
        (2, 0)
    """

    documents: tuple[Routed, ...]

    @property
    def usage(self) -> Usage:
        """Tokens of all walks."""
        return sum((d.usage for d in self.documents), Usage())

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Failures of all walks."""
        return tuple(failure for d in self.documents for failure in d.failures)


async def route(question: str, subtrees: Sequence[RetrievalSubtree], router: Router, expand_iter: int = 5) -> Routing:
    """Walk through every document at the same time and collect the passages that the router selects.

    A walk ends when the router unfolds nothing, unfolds what hides nothing, or has used up its expansions. A decision
    that a model could not make, or that names nodes which are not visible, is dropped and counted as a failure, and
    ends the walk of that document.

    Args:
        question: What is asked.
        subtrees: One per document, from `discorag.retrieval.routers.subtree.derive`.
        router: Who decides.
        expand_iter: Expansions followed in a document, so at most one step more; 0 only selects (RDR² table 9).

    Source: RDR² section 3.1.
    """
    documents = [Routed(subtree=subtree) for subtree in subtrees]
    while any(walk.ending is None for walk in documents):
        documents = await stepped(question, documents, router, expand_iter)
    return Routing(tuple(documents))


async def stepped(question: str, walks: Sequence[Routed], router: Router, expand_iter: int) -> list[Routed]:
    """Each walk one step further, at the same time; those that have ended as they are. Arguments as for `route`."""
    return list(await asyncio.gather(*(_step(question, walk, router, expand_iter) for walk in walks)))


async def _step(question: str, walk: Routed, router: Router, expand_iter: int) -> Routed:
    if walk.ending is not None:
        return walk
    try:
        decision = await _checked(question, walk.subtree, router)
    except ModelError as error:
        failure = Failure.of(STAGE, error, fallback="the passages selected before")
        usage = walk.usage + (error.usage or Usage())
        return replace(walk, ending=Ending.FAILED, usage=usage, failures=(failure,))
    # lit leaves are new ones: no step repeats another's
    steps = (*walk.steps, tuple(dict.fromkeys(decision.answer)))
    limit = len(steps) > expand_iter
    opened = walk.subtree if decision.expand is None or limit else walk.subtree.expand(decision.expand)
    ending = _ending(decision, limit=limit) if opened is walk.subtree else None
    return Routed(steps, subtree=opened, ending=ending, usage=walk.usage + decision.usage)


async def _checked(question: str, subtree: RetrievalSubtree, router: Router) -> Decision:
    decision = await router.decide(question, subtree)
    headings = range(subtree.tree.leaves, len(subtree.tree.nodes))
    unseen = sorted(set(decision.answer) - set(subtree.lit))
    wrong = [*unseen, *(() if decision.expand is None or decision.expand in headings else (decision.expand,))]
    if wrong:
        raise InvalidOutputError(
            f"The router selected nodes that are not there to select: {wrong}.",
            hint="It may answer with lit leaves and expand inner nodes.",
            usage=decision.usage,
        )
    return decision


def _ending(decision: Decision, *, limit: bool) -> Ending:
    if decision.expand is not None:
        return Ending.LIMIT if limit else Ending.LOOP
    return Ending.ANSWERED if decision.answer else Ending.REFUSED
