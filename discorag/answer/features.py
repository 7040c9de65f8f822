"""What the scorer sees of a unit: numbers that cost next to nothing once the units' vectors are known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from discorag.answer.question import TYPES, typed
from discorag.answer.words import Floats, asked, likeness, rarity
from discorag.claims.units import Unit, UnitTable
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.rst_relations import Relation
from discorag.types.vectors import Vectors

_CAUSES = frozenset({Relation.CAUSE, Relation.RESULT, Relation.EXPLANATION, Relation.PURPOSE})


def _relative(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{how}" for how in ("gap", "deviation", "rank"))


GROUPS: dict[str, tuple[str, ...]] = {
    "cosine": ("unit_cosine", "window_cosine", "chunk_cosine", "document_cosine", *_relative("cosine")),
    "words": ("unit_words", "window_words", "chunk_words", "heading_words", *_relative("words")),
    "place": ("chunk_rank", "first", "position", "length"),
    "type": tuple(f"{question}_{unit}" for question in TYPES for unit in ("number", "name")),
    "tree": ("satellite_depth", "causes", "why_causes", "sure"),
    "graph": ("supported", "opposed", "edges"),
}
"""Names of the features by what they come from, in the order of the columns."""
NAMES = tuple(name for names in GROUPS.values() for name in names)


def features(case: Case, table: UnitTable, query: Vectors) -> Floats:
    """One row a unit, one column a name of `NAMES`; shape (units, features)."""
    if not table.units:
        return np.zeros((0, len(NAMES)))
    columns = [
        *_cosines(table, query),
        *_words(case, table),
        *_places(table),
        *_types(case.query, table),
        *_tree(case, table),
        *_graph(case, table),
    ]
    return np.stack([np.asarray(c, np.float64) for c in columns], axis=1)


def _cosines(table: UnitTable, query: Vectors) -> list[Floats]:
    unit = np.asarray(table.vectors @ query, np.float64)
    vectors, chunks = np.asarray(table.vectors, np.float64), _chunks(table.units)
    window = _unit_rows(_windowed(vectors, chunks)) @ query
    chunk = _unit_rows(_pooled(vectors, chunks)) @ query
    document = np.full(len(unit), float(_unit_rows(vectors.mean(axis=0, keepdims=True))[0] @ query))
    return [unit, window, chunk, document, *_against_others(unit)]


def _words(case: Case, table: UnitTable) -> list[Floats]:
    """Shares of the question's words that are said, rare ones weighing more; alike counts as its likeness."""
    words, chunks = asked(case.query), _chunks(table.units)
    said = likeness(words, [unit.text for unit in table.units])
    weights = rarity(said)
    unit = said @ weights
    window = _window_max(said, chunks) @ weights
    chunk = _chunk_max(said, chunks) @ weights
    headings = likeness(words, [_above(case.chunks[u.chunk - 1]) for u in table.units]) @ weights
    return [unit, window, chunk, headings, *_against_others(unit)]


def _against_others(values: Floats) -> list[Floats]:
    """How far below the best, deviation from the mean, and reciprocal rank."""
    rank = np.empty(len(values))
    rank[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return [values - values.max(), (values - values.mean()) / (values.std() + 1e-6), 1 / (1 + rank)]


def _above(chunk: Chunk) -> str:
    return " ".join((chunk.title, *chunk.headings))


def _places(table: UnitTable) -> list[Floats]:
    chunks = _chunks(table.units)
    rank = np.concatenate([np.full(stop - start, float(i)) for i, (start, stop) in enumerate(chunks)])
    position = np.concatenate([np.linspace(0, 1, stop - start) for start, stop in chunks])
    length = np.log1p([len(unit.text) for unit in table.units])
    return [np.log1p(rank), (position == 0).astype(float), position, length]


def _types(question: str, table: UnitTable) -> list[Floats]:
    kind = typed(question)
    number = np.array([any(map(str.isdigit, u.text)) for u in table.units], float)
    name = np.array([_has_name(u.text) for u in table.units], float)
    return [column * (kind == asked) for asked in TYPES for column in (number, name)]


def _has_name(text: str) -> bool:
    """A capital that does not begin the sentence."""
    return any(word[:1].isupper() for word in text.split()[1:])


def _tree(case: Case, table: UnitTable) -> list[Floats]:
    depth = np.array([u.satellite_depth for u in table.units], float)
    causes = np.array([_in_relation(case.chunks[u.chunk - 1], u) for u in table.units])
    sure = np.array([_sureness(case.chunks[u.chunk - 1]) for u in table.units])
    return [depth, causes, causes * (typed(case.query) == "why"), sure]


def _in_relation(chunk: Chunk, unit: Unit) -> float:
    """Whether a relation of cause or purpose has both its sides in the unit, or starts or ends in it."""
    if chunk.tree is None:
        return 0.0
    edus = chunk.tree.edus
    for split in chunk.tree.splits:
        left, right = edus[split.mid - 1], edus[split.mid]
        meets = left.start < unit.span.end and right.end > unit.span.start
        if split.relation in _CAUSES and meets:
            return 1.0
    return 0.0


def _sureness(chunk: Chunk) -> float:
    if chunk.tree is None or not chunk.tree.splits:
        return 0.0
    return float(np.mean([split.confidence or 0.0 for split in chunk.tree.splits]))


def _graph(case: Case, table: UnitTable) -> list[Floats]:
    supported, opposed, edges = (np.zeros(len(case.chunks) + 1) for _ in range(3))
    for edge in case.graph.edges if case.graph else ():
        for chunk in (case.number(edge.source), case.number(edge.target)):
            edges[chunk] += 1 / max(1, len(case.chunks) - 1)
            opposed[chunk] = max(opposed[chunk], float(edge.disagrees))
        supported[case.number(edge.target)] = max(
            supported[case.number(edge.target)], float(edge.relation is ChunkRelation.SUPPORTS)
        )
    at = np.array([u.chunk for u in table.units])
    return [supported[at], opposed[at], edges[at]]


def _chunks(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Where each chunk's units start and stop."""
    found: list[tuple[int, int]] = []
    for _, group in groupby(range(len(units)), key=lambda i: units[i].chunk):
        members = list(group)
        found.append((members[0], members[-1] + 1))
    return found


def _windowed(rows: Floats, chunks: list[tuple[int, int]]) -> Floats:
    """Means of each row and its neighbours in the chunk."""
    return np.concatenate(
        [
            [rows[max(start, i - 1) : min(stop, i + 2)].mean(axis=0) for i in range(start, stop)]
            for start, stop in chunks
        ]
    )


def _pooled(rows: Floats, chunks: list[tuple[int, int]]) -> Floats:
    return np.concatenate([np.repeat(rows[a:b].mean(axis=0, keepdims=True), b - a, axis=0) for a, b in chunks])


def _window_max(said: Floats, chunks: list[tuple[int, int]]) -> Floats:
    return np.concatenate(
        [[said[max(a, i - 1) : min(b, i + 2)].max(axis=0) for i in range(a, b)] for a, b in chunks]
    ).reshape(said.shape)


def _chunk_max(said: Floats, chunks: list[tuple[int, int]]) -> Floats:
    return np.concatenate([np.repeat(said[a:b].max(axis=0, keepdims=True), b - a, axis=0) for a, b in chunks])


def _unit_rows(rows: Floats) -> Floats:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
