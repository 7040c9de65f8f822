"""The learned graph engine and its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discorag.conflicts.detection import Odds, disagreements
from discorag.conflicts.versions import newer
from discorag.discourse.relate.passages import Floats, Pairs, Passage, pair_features
from discorag.discourse.relate.rules import SAME
from discorag.discourse.relate.stated import by_date, opening_relation, stated
from discorag.ingest.segment.sentence_table import SentenceTable, sentences_of
from discorag.models.protocol import Encoder
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk
from discorag.schema.errors import ConfigError

WEIGHTS = Path(__file__).parent / "weights" / "relations.safetensors"
_R = ChunkRelation
FAMILIES = (
    _R.ELABORATES, _R.SUPPLEMENTS, _R.FOLLOWS, _R.BACKGROUND_FOR, _R.COMPARES_WITH, _R.SUPPORTS, _R.JUSTIFIES,
    _R.MOTIVATES, _R.CAUSES, _R.RESULTS_FROM,
)  # fmt: skip
"""The coarse relations that are learned, each named by the label that it becomes when no cue says more.

FOLLOWS stands for sequence in either direction, COMPARES_WITH for everything adversative: that two texts disagree is
never concluded from a learned class.
"""
FIRST, SECOND, NEITHER = 0, 1, 2
"""Orientations: the first passage is the satellite (the edge's source), the second is, or both are nuclei."""

WITHIN, ACROSS = 0, 1
"""The two sets of weights: for pairs of one document, for pairs of two."""
_TURNED = [1, 0, 2]  # orientations of a pair that is turned round


@dataclass(frozen=True)
class Predicted:
    """What the models say of n ordered pairs.

    Args:
        related: Calibrated probability that a relation holds, shape (n,); the same for both orders.
        orientation: Probabilities that the first is the satellite, the second is, neither is; shape (n, 3).
        family: Probabilities of `FAMILIES`, shape (n, families).
    """

    related: Floats
    orientation: Floats
    family: Floats


@dataclass(frozen=True)
class Inputs:
    """What is read of n ordered pairs.

    Args:
        between: `pair_features` of the pairs, shape (n, f).
        full: The same with `Passage.alone` of the first and of the second, shape (n, f + 2 a).
    """

    between: Floats
    full: Floats


def inputs_of(passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> Inputs:
    """The inputs; ``same`` as in `pair_features`."""
    between, alone = pair_features(passages, pairs, same), np.stack([p.alone for p in passages])
    return Inputs(between, np.concatenate([between, alone[pairs[0]], alone[pairs[1]]], axis=1))


def both_ways(passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> tuple[Inputs, Inputs]:
    """The inputs of the pairs, and of the pairs turned round."""
    one, other = pairs
    turned = np.concatenate([one, other]), np.concatenate([other, one])
    both, n = inputs_of(passages, turned, np.concatenate([same, same])), len(same)
    return Inputs(both.between[:n], both.full[:n]), Inputs(both.between[n:], both.full[n:])


@dataclass(frozen=True)
class RelationModel:
    """Logistic models, one set for pairs of one document and one for pairs of two.

    Args:
        weights: For ``related``, ``orientation`` and ``family`` a matrix ``.weight`` of shape (2, outputs, inputs) and
            ``.bias``, (2, outputs); ``calibration``, slope and shift, (2, 2); ``thresholds``, (2,).

    Example:
        >>> from discorag.discourse.relate.learned import load_model
        >>> found = load_model().predict(passages, (np.array([0]), np.array([1])), same=np.array([False]))
        >>> found.related.shape, bool(0 <= found.related[0] <= 1)
        ((1,), True)
    """

    weights: Mapping[str, Floats]

    @property
    def thresholds(self) -> Floats:
        """Probability from which two passages count as related: within a document, across documents."""
        return self.weights["thresholds"]

    def predict(self, passages: Sequence[Passage], pairs: Pairs, same: NDArray[np.bool_]) -> Predicted:
        """What is said of ``pairs``; the order in which a pair is given changes nothing but the orientation's.

        Args:
            passages: At least one.
            pairs: Indices of the first and of the second passage of each pair.
            same: For each pair, whether the two are parts of one document.
        """
        starts = np.array([p.start for p in passages])
        late = same & (starts[pairs[0]] > starts[pairs[1]])
        first, second = np.where(late, pairs[1], pairs[0]), np.where(late, pairs[0], pairs[1])
        found = self.read(*both_ways(passages, (first, second), same), same)
        orientation = np.where(late[:, None], found.orientation[:, _TURNED], found.orientation)
        return Predicted(found.related, orientation, found.family)

    def read(self, one: Inputs, other: Inputs, same: NDArray[np.bool_]) -> Predicted:
        """The same from inputs: of pairs in the order of the text, if they have one, and of the pairs turned round.

        Parts of one document are read in the order of the text; two documents have none, so both readings are averaged.
        """
        slope, shift = self.weights["calibration"][np.where(same, WITHIN, ACROSS)].T
        orientation = _softmax(self._linear("orientation", one.full, same))
        turned = _softmax(self._linear("orientation", other.full, same))[:, _TURNED]
        family = _softmax(self._linear("family", one.full, same))
        again = _softmax(self._linear("family", other.full, same))
        return Predicted(
            _sigmoid(slope * self.logits(one, other, same) + shift),
            _mean_across(orientation, turned, same),
            _mean_across(family, again, same),
        )

    def logits(self, one: Inputs, other: Inputs, same: NDArray[np.bool_]) -> Floats:
        """Uncalibrated relatedness, shape (n,)."""
        first, again = (self._linear("related", i.between, same) for i in (one, other))
        return _mean_across(first, again, same)[:, 0]

    def _linear(self, name: str, x: Floats, same: NDArray[np.bool_]) -> Floats:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        within: Floats = x @ weight[WITHIN].T + bias[WITHIN]
        across: Floats = x @ weight[ACROSS].T + bias[ACROSS]
        return np.where(same[:, None], within, across)


def _mean_across(one: Floats, other: Floats, same: NDArray[np.bool_]) -> Floats:
    return np.where(same[:, None], one, (one + other) / 2)


def _sigmoid(x: Floats) -> Floats:
    return (1 / (1 + np.exp(-np.clip(x, -30, 30)))).astype(np.float32)


def _softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@cache
def load_model(path: Path = WEIGHTS) -> RelationModel:
    """The trained models.

    Raises:
        ConfigError: There are no weights.
    """
    from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

    if not path.is_file():
        raise ConfigError(f"There are no weights in {path}.", hint="Train them: python -m training.relations.train.")
    return RelationModel({name: value.astype(np.float32) for name, value in load_file(path).items()})


def learned_engine(tools: Toolbox) -> LearnedGraphEngine:
    """For the registry."""
    return LearnedGraphEngine(tools.encoder)


class LearnedGraphEngine:
    """Infers the graph from the chunks' sentences. Implements `discorag.discourse.relate.rules.GraphEngine`.

    Args:
        encoder: Gives the sentences' vectors.
        model: The learned relations; the packaged ones if not given.

    Raises:
        ConfigError: There are no packaged weights.

    Example:
        >>> from discorag.discourse.relate.learned import LearnedGraphEngine
        >>> graph = asyncio.run(LearnedGraphEngine(encoder).relate(inputs)).value
        >>> [(graph.number(edge.source), str(edge.relation), graph.number(edge.target)) for edge in graph.edges]
        [(2, 'CONTRADICTS', 1)]
    """

    def __init__(self, encoder: Encoder, model: RelationModel | None = None) -> None:
        self._encoder = encoder
        self._model = model or load_model()

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """One edge at most for every unordered pair: those that conflict or are related.

        The confidence of a conflict is the probability that the two contradict each other; of another relation, that
        one holds, times, where the direction is not stated, the probability that it holds this way.
        """
        edges: tuple[Edge, ...] = ()
        if len(inputs.chunks) > 1:
            edges = tuple(_edges(inputs.chunks, await sentences_of(inputs, self._encoder), self._model))
        return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks), edges=edges))


def _edges(chunks: Sequence[Chunk], table: SentenceTable, model: RelationModel) -> Iterator[Edge]:
    passages = _passages(chunks, table)
    pairs = list(combinations(range(len(chunks)), 2))
    first, second = np.array(pairs, dtype=np.int64).T
    same = np.array([chunks[i].doc_id == chunks[j].doc_id for i, j in pairs])
    predicted = model.predict(passages, (first, second), same)
    is_related = predicted.related >= model.thresholds[np.where(same, WITHIN, ACROSS)]
    conflicts = disagreements(table, [c.doc_id for c in chunks])
    for row, (i, j) in enumerate(pairs):
        if found := conflicts.get((i, j)):
            yield _conflict(chunks[i], chunks[j], table, found)
        elif is_related[row]:
            yield _Pair(chunks, passages, i, j, predicted, row).edge()


def _passages(chunks: Sequence[Chunk], table: SentenceTable) -> list[Passage]:
    texts = [tuple(c.slice(s) for s in c.sentences) for c in chunks]
    ends = np.cumsum([len(part) for part in texts])
    return [
        Passage(part, own, c.doc_id, c.span.start, c.span.end)
        for c, part, own in zip(chunks, texts, np.split(table.vectors, ends[:-1]), strict=True)
    ]


def _conflict(left: Chunk, right: Chunk, table: SentenceTable, found: Odds) -> Edge:
    """From the chunk on the right; between versions of one document the newer statement replaces the older."""
    later = newer(right, left) if found.relation is _R.CONTRADICTS else 0
    sides = (right, found.right), (left, found.left)
    (source, mine), (target, theirs) = sides[::-1] if later < 0 else sides
    return Edge(
        source=source.id,
        target=target.id,
        relation=_R.REPLACES if later else found.relation,
        source_span=table.sentences[mine].span,
        target_span=table.sentences[theirs].span,
        confidence=found.confidence or 0.0,
    )


@dataclass(frozen=True)
class _Pair:
    """Two related chunks ``i`` and ``j``, the first ranked higher, and what is known of them."""

    chunks: Sequence[Chunk]
    passages: Sequence[Passage]
    i: int
    j: int
    predicted: Predicted
    row: int

    def edge(self) -> Edge:
        """By what is stated, else by what was learned."""
        return (self._by_opening() if self.is_within else self._by_cue()) or self._by_model()

    @property
    def is_within(self) -> bool:
        return self.chunks[self.i].doc_id == self.chunks[self.j].doc_id

    def _edge(self, source: int, relation: ChunkRelation, share: float = 1.0) -> Edge:
        return Edge(
            source=self.chunks[source].id,
            target=self.chunks[self.i + self.j - source].id,
            relation=relation,
            confidence=float(self.predicted.related[self.row]) * share,
        )

    def _by_opening(self) -> Edge | None:
        """How the later of two neighbours in a document opens.

        Cues within sentences say nothing about chunks of one document: on GUM dev they seldom agree with the tree.
        """
        first, then = sorted((self.i, self.j), key=lambda k: self.chunks[k].order)
        if self.chunks[then].order != self.chunks[first].order + 1:
            return None
        passage = self.passages[then]
        relation = opening_relation(passage.sentences[passage.first])
        return self._edge(then, relation) if relation else None

    def _by_cue(self) -> Edge | None:
        """The relation that either of two documents' chunks states of the other, the one whose words fit best."""
        a, b = self.passages[self.i], self.passages[self.j]
        found = [
            (self.i, stated(a.sentences, b.sentence_stems)),
            (self.j, stated(b.sentences, a.sentence_stems)),
        ]
        known = [(source, s) for source, s in found if s]
        if not known:
            return None
        source, best = max(known, key=lambda f: f[1].share)
        return self._edge(source, best.relation)

    def _by_model(self) -> Edge:
        orientation: Floats = self.predicted.orientation[self.row]
        source = self.i if orientation[FIRST] >= orientation[SECOND] else self.j
        share = float(orientation[NEITHER] + max(orientation[FIRST], orientation[SECOND]))
        family = FAMILIES[int(self.predicted.family[self.row].argmax())]
        return self._edge(source, self._label(family, source, is_nuclear=orientation.argmax() == NEITHER), share)

    def _label(self, family: ChunkRelation, source: int, *, is_nuclear: bool) -> ChunkRelation:
        """The label of a family: a sequence by its order, the same said by two documents as support."""
        target = self.i + self.j - source
        if family is _R.FOLLOWS and self.is_within:
            return _R.FOLLOWS if self.chunks[source].order > self.chunks[target].order else _R.PRECEDES
        if family is _R.FOLLOWS:
            return by_date(self.passages[source].years, self.passages[target].years) or _R.SUPPLEMENTS
        if family not in (_R.ELABORATES, _R.SUPPLEMENTS) or self.is_within:
            return family
        closest = float((self.passages[self.i].vectors @ self.passages[self.j].vectors.T).max())
        if closest >= SAME:
            return _R.SUPPORTS
        return _R.SUPPLEMENTS if is_nuclear else family
