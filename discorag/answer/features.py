"""What the scorer sees of a unit: numbers that cost next to nothing once the units' vectors are known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from discorag.answer.question import TYPES, typed
from discorag.answer.words import Floats, asked, likeness, rarity, said_in
from discorag.claims.units import Unit, UnitTable
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.rst_relations import Relation
from discorag.types.span import Span
from discorag.types.vectors import Vectors

_CAUSES = frozenset({Relation.CAUSE, Relation.RESULT, Relation.EXPLANATION, Relation.PURPOSE})


def _relative(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{how}" for how in ("gap", "deviation", "rank"))


GROUPS: dict[str, tuple[str, ...]] = {
    "cosine": ("unit_cosine", "window_cosine", "chunk_cosine", "document_cosine", *_relative("cosine")),
    "words": ("unit_words", "window_words", "chunk_words", *_relative("words"), "heading_words"),
    "unusual": ("unit_unusual", "window_unusual", "chunk_unusual", *_relative("unusual")),
    "meanings": ("unit_meanings", "window_meanings", "chunk_meanings", *_relative("meanings")),
    "place": ("chunk_rank", "first", "position", "length"),
    "type": tuple(f"{question}_{unit}" for question in TYPES for unit in ("number", "name")),
    "tree": ("satellite_weight", "causes", "why_causes", "sure"),
    "graph": ("supported", "edges"),
}
"""Names of the features by what they come from, in the order of the columns."""
NAMES = tuple(name for names in GROUPS.values() for name in names)
KEY = "features"
"""Under this name a case knows the features of its units that do not hang on the graph."""


def features(case: Case, table: UnitTable, query: Vectors) -> Floats:
    """One row a unit, one column a name of `NAMES`; shape (units, features)."""
    if not table.units:
        return np.zeros((0, len(NAMES)))
    return np.concatenate([_lasting(case, table, query), _graph(case, table)], axis=1)


def _lasting(case: Case, table: UnitTable, query: Vectors) -> Floats:
    """The columns that do not hang on the graph; made by the first stage that asks, for all of them."""
    of, known = case.known.get(KEY, (None, ("", np.zeros(0))))
    if of is not case.chunks or known[0] != case.query:
        columns = [*_cosines(table, query), *_words(case, table), *_places(table), *_types(case, table)]
        known = (case.query, np.stack([*columns, *_tree(case, table)], axis=1))
        case.known[KEY] = (case.chunks, known)
    rows: Floats = known[1]
    return rows


def _cosines(table: UnitTable, query: Vectors) -> list[Floats]:
    unit = np.asarray(table.vectors @ query, np.float64)
    vectors, chunks = np.asarray(table.vectors, np.float64), _chunks(table.units)
    window = _unit_rows(_windowed(vectors, chunks)) @ query
    chunk = _unit_rows(_pooled(vectors, chunks)) @ query
    document = np.full(len(unit), float(_unit_rows(vectors.mean(axis=0, keepdims=True))[0] @ query))
    return [unit, window, chunk, document, *_against_others(unit)]


def _words(case: Case, table: UnitTable) -> list[Floats]:
    """Shares of the question's words that are said, by their forms or meanings, rare ones weighing more."""
    said, chunks = said_in(case), _chunks(table.units)
    weights = rarity(said.forms)
    rare = weights * said.unusual
    return [
        *_in_text(said.forms, weights, chunks),
        _headings(case, table) @ weights,
        *_in_text(said.forms, rare / max(float(rare.sum()), 1e-12), chunks),
        *_in_text(said.meanings, weights, chunks),
    ]


def _headings(case: Case, table: UnitTable) -> Floats:
    """What the title and the headings around each unit say of the words, shape (units, words)."""
    of = [(case.chunks[unit.chunk - 1], unit) for unit in table.units]
    above = [" ".join(dict.fromkeys((c.title, *c.headings, *unit.headings))) for c, unit in of]
    distinct = {text: i for i, text in enumerate(dict.fromkeys(above))}
    return likeness(asked(case.query), list(distinct))[[distinct[text] for text in above]]


def _in_text(said: Floats, weights: Floats, chunks: list[tuple[int, int]]) -> list[Floats]:
    """What each unit says of the words, it and its neighbours, and its chunk; and how the unit stands to others."""
    unit = said @ weights
    return [unit, _window_max(said, chunks) @ weights, _chunk_max(said, chunks) @ weights, *_against_others(unit)]


def _against_others(values: Floats) -> list[Floats]:
    """How far below the best, deviation from the mean, and reciprocal rank."""
    rank = np.empty(len(values))
    rank[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return [values - values.max(), (values - values.mean()) / (values.std() + 1e-6), 1 / (1 + rank)]


def _places(table: UnitTable) -> list[Floats]:
    chunks = _chunks(table.units)
    rank = np.concatenate([np.full(stop - start, float(i)) for i, (start, stop) in enumerate(chunks)])
    position = np.concatenate([np.linspace(0, 1, stop - start) for start, stop in chunks])
    length = np.log1p([len(unit.text) for unit in table.units])
    return [np.log1p(rank), (position == 0).astype(float), position, length]


def _types(case: Case, table: UnitTable) -> list[Floats]:
    kind = typed(case.query)
    number = np.array([any(map(str.isdigit, u.text)) for u in table.units], float)
    name = np.array([_has_name(u.text) for u in table.units], float)
    return [column * (kind == asked) for asked in TYPES for column in (number, name)]


def _has_name(text: str) -> bool:
    """A capital that does not begin the sentence."""
    return any(word[:1].isupper() for word in text.split()[1:])


def _tree(case: Case, table: UnitTable) -> list[Floats]:
    weight = np.array([u.satellite_weight for u in table.units], float)
    meetings = [_meetings(chunk) for chunk in case.chunks]
    causes = np.array([_meets(u.span, meetings[u.chunk - 1]) for u in table.units], float)
    sure = np.array([_sureness(chunk) for chunk in case.chunks])[[u.chunk - 1 for u in table.units]]
    return [weight, causes, causes * float(typed(case.query) == "why"), sure]


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < other.end and span.end > other.start for other in others)


def _meetings(chunk: Chunk) -> list[Span]:
    """The two EDUs where the sides of each relation of cause or purpose meet."""
    if chunk.tree is None:
        return []
    edus, found = chunk.tree.edus, [s.mid for s in chunk.tree.splits if s.relation in _CAUSES]
    return [Span(start=edus[mid - 1].start, end=edus[mid].end) for mid in found]


def _sureness(chunk: Chunk) -> float:
    if chunk.tree is None or not chunk.tree.splits:
        return 0.0
    return float(np.mean([split.confidence or 0.0 for split in chunk.tree.splits]))


def _graph(case: Case, table: UnitTable) -> Floats:
    """Shape (units, 2). Not whether others disagree: that decides what is told beside a unit, not what answers."""
    found, number = np.zeros((len(case.chunks), 2)), {chunk.id: i for i, chunk in enumerate(case.chunks)}
    for edge in case.graph.edges if case.graph else ():
        source, target = number[edge.source], number[edge.target]
        found[target, 0] = max(found[target, 0], float(edge.relation is ChunkRelation.SUPPORTS))
        for chunk in (source, target):
            found[chunk, 1] += 1 / max(1, len(case.chunks) - 1)
    return found[[unit.chunk - 1 for unit in table.units]]


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
