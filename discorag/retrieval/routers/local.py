"""The router without a language model: similarity to the question against thresholds.

The actions are those of RDR² section 3.3; that a vector's similarity decides on them is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from discorag.models.protocol import Encoder
from discorag.retrieval.routers.subtree import RetrievalSubtree
from discorag.retrieval.routers.walk import Decision, route
from discorag.schema.errors import ConfigError
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.vectors import Vectors


@dataclass(frozen=True)
class Thresholds:
    """Cosines from which the local router acts; they belong to an encoder.

    The defaults are for the packaged MiniLM and rest on little: 33 questions on 7 papers of QASPER's sample, with the
    papers' five nearest paragraphs as retrieved. There `fit` gave 0.4 for ``answer`` on either half and no bonus for
    siblings; which ``expand`` is best, the questions did not settle, so it is the same. `fit` chooses them anew on
    development questions.

    Args:
        answer: A lit passage at least this near the question is selected.
        expand: The nearest collapsed heading is unfolded if its path is at least this near.
        sibling: Added to the nearness of headings beside a section in which a passage was selected (RDR² prompt C.1
            has the same rule).

    Example:
        >>> from discorag.retrieval.routers.local import Thresholds
        >>> Thresholds(answer=0.5)
        Thresholds(answer=0.5, expand=0.4, sibling=0.0)
    """

    answer: float = 0.4
    expand: float = 0.4
    sibling: float = 0.0


GRID = tuple(
    Thresholds(answer / 20, expand / 20, sibling / 20)
    for answer, expand, sibling in product(range(4, 14), range(4, 14), range(3))
)
"""What `fit` tries: both thresholds from 0.2 to 0.65, the siblings' bonus from 0 to 0.1, in steps of 0.05."""


class LocalRouter:
    """A `discorag.retrieval.routers.walk.Router` that compares vectors; deterministic.

    Args:
        encoder: Question and nodes to vectors; best one that remembers, since headings stay from step to step.
        thresholds: When to act.

    Example:
        >>> from discorag.retrieval.routers.local import LocalRouter
        >>> from discorag.retrieval.routers.subtree import derive
        >>> decision = asyncio.run(LocalRouter(encoder).decide("Why does the moon pull the sea?", derive(tree, [0])))
        >>> [tree.nodes[leaf].text[:23] for leaf in decision.answer]
        ['The moon pulls the sea.']
    """

    def __init__(self, encoder: Encoder, thresholds: Thresholds | None = None) -> None:
        self._encoder = encoder
        self._thresholds = thresholds or Thresholds()

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """Lit passages that are near enough, and the nearest collapsed heading if it is.

        Raises:
            QueryError: The question is longer than the encoder's window.
        """
        nearness = await _nearness(self._encoder, question, subtree.tree, [*subtree.lit, *subtree.collapsed])
        return _decision(subtree, nearness, self._thresholds)


@dataclass(frozen=True)
class Example:
    """A development question on one document.

    Args:
        question: What is asked.
        subtree: Where routing starts.
        gold: Leaves that answer it; none if the document does not.

    Example:
        >>> from discorag.retrieval.routers.local import Example, fit
        >>> from discorag.retrieval.routers.subtree import derive
        >>> example = Example("Why does the moon pull the sea?", derive(tree, [0]), gold=frozenset({0}))
        >>> asyncio.run(fit(encoder, [example])).answer
        0.2
    """

    question: str
    subtree: RetrievalSubtree
    gold: frozenset[int]


async def fit(
    encoder: Encoder, examples: Sequence[Example], *, grid: Sequence[Thresholds] = GRID, expand_iter: int = 5
) -> Thresholds:
    """The thresholds of the grid whose routed passages have the highest mean F1 on the examples; the first of equals.

    Args:
        encoder: For which they are fitted.
        examples: Development questions; each counts alike.
        grid: What to try.
        expand_iter: As in `discorag.retrieval.routers.walk.route`.

    Raises:
        ConfigError: There is nothing to fit on or to choose from.
    """
    if not examples or not grid:
        raise ConfigError(
            f"Thresholds cannot be fitted on {len(examples)} examples and {len(grid)} choices.",
            hint="Pass at least one of each.",
        )
    measured = [
        await _nearness(encoder, e.question, e.subtree.tree, range(len(e.subtree.tree.nodes))) for e in examples
    ]
    scores = [await _mean_f1(examples, measured, thresholds, expand_iter) for thresholds in grid]
    return grid[scores.index(max(scores))]


@dataclass(frozen=True)
class _MeasuredRouter:
    """The local router where all cosines are known: what `fit` asks again and again."""

    nearness: Mapping[int, float]
    thresholds: Thresholds

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        return _decision(subtree, self.nearness, self.thresholds)


async def _mean_f1(
    examples: Sequence[Example], measured: Sequence[Mapping[int, float]], thresholds: Thresholds, expand_iter: int
) -> float:
    total = 0.0
    for example, nearness in zip(examples, measured, strict=True):
        router = _MeasuredRouter(nearness, thresholds)
        [routed] = (await route(example.question, [example.subtree], router, expand_iter)).documents
        total += _f1(set(routed.in_step_order), example.gold)
    return total / len(examples)


async def _nearness(encoder: Encoder, question: str, tree: RetrievalTree, nodes: Sequence[int]) -> dict[int, float]:
    """For each node the cosine of its text, as far as the encoder reads it, and the question."""
    tokens = encoder.tokens
    budget = tokens.max_tokens - tokens.special_tokens
    texts = [tree.nodes[i].text for i in nodes]
    offsets = tokens.token_offsets(texts)
    read = [t if len(o) <= budget else t[: o[budget][0]] for t, o in zip(texts, offsets, strict=True)]
    vectors = await encoder.encode_documents(read)
    cosines: Vectors = vectors @ await encoder.encode_query(question)
    return dict(zip(nodes, map(float, cosines), strict=True))


def _decision(subtree: RetrievalSubtree, nearness: Mapping[int, float], thresholds: Thresholds) -> Decision:
    answer = tuple(leaf for leaf in subtree.lit if nearness[leaf] >= thresholds.answer)
    beside = _beside(subtree.tree, answer)
    scores = {h: nearness[h] + (thresholds.sibling if h in beside else 0.0) for h in subtree.collapsed}
    best = max(scores, key=lambda heading: scores[heading], default=None)
    return Decision(answer, best if best is not None and scores[best] >= thresholds.expand else None)


def _f1(routed: set[int], gold: frozenset[int]) -> float:
    """F1 of a selection; 1 where nothing was to be selected and nothing was."""
    return 2 * len(routed & gold) / (len(routed) + len(gold)) if routed or gold else 1.0


def _beside(tree: RetrievalTree, answer: Sequence[int]) -> set[int]:
    """Sections in which one of these leaves stands, and the nodes beside these sections."""
    sections = {section for leaf in answer for section in tree.parents[leaf]}
    around = {parent for section in sections for parent in tree.parents[section]}
    return {child for parent in around for child in tree.nodes[parent].children}
