"""What is told, in which order, and when it is enough."""

from dataclasses import replace

import numpy as np
import pytest
from discorag.answer.words import Floats

from discorag.answer import selection
from discorag.answer.selection import LIMIT, Role, select
from discorag.claims.units import Unit, UnitTable
from discorag.text.sentences import sentence_spans
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import Edge, RhetoricalGraph
from discorag.types.hierarchy import UnitKind

TEXTS = ["The first is one thing.", "The second is another.", "The third adds more.", "The fourth repeats nothing."]


def _chunk(i: int, text: str) -> Chunk:
    whole = {"start": 0, "end": len(text)}
    spans = sentence_spans(text)
    return Chunk.model_validate(
        {"id": f"c{i}", "doc_id": f"d{i}", "order": 0, "span": whole, "text": text, "sentences": spans}
    )


def _case(texts: list[str], *edges: Edge) -> tuple[Case, UnitTable]:
    chunks = tuple(_chunk(i, t) for i, t in enumerate(texts))
    units = tuple(Unit(i, 1, c.sentences[0], c.text, 0) for i, c in enumerate(chunks, start=1))
    graph = RhetoricalGraph(chunks=tuple(c.id for c in chunks), edges=edges) if edges else None
    return Case(query="?", chunks=chunks, graph=graph), UnitTable(units, np.eye(len(texts), dtype=np.float32))


def _always(*_: object) -> bool:
    return True


def _scored(monkeypatch: pytest.MonkeyPatch, *values: float) -> None:
    def scores(*_: object) -> Floats:
        return np.array(values)

    monkeypatch.setattr(selection, "scores", scores)


def test_the_best_comes_first_and_those_below_the_learned_stop_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    _scored(monkeypatch, 0.88, 0.9, 0.3, 0.89)
    case, table = _case(TEXTS)
    assert select(case, table, table.vectors[0]).chosen == (1, 3, 0)


def test_the_best_is_told_even_if_it_is_unlikely(monkeypatch: pytest.MonkeyPatch) -> None:
    _scored(monkeypatch, 0.01, 0.02, 0.01, 0.01)
    case, table = _case(TEXTS)
    assert select(case, table, table.vectors[0]).chosen == (1,)


def test_what_speaks_against_a_unit_follows_it_before_the_next_best(monkeypatch: pytest.MonkeyPatch) -> None:
    _scored(monkeypatch, 0.9, 0.8, 0.1, 0.7)
    edge = Edge(source="c2", target="c0", relation=ChunkRelation.CONTRADICTS)
    case, table = _case(TEXTS, edge)
    found = select(case, table, table.vectors[0])
    assert [(t.unit, t.role, t.of) for t in found.told[:2]] == [(0, Role.ANSWER, None), (2, Role.OPPOSES, 0)]
    assert found.opposed == ((0, 2),)


def test_what_supports_a_unit_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _scored(monkeypatch, 0.9, 0.89, 0.87, 0.88)
    edge = Edge(source="c2", target="c0", relation=ChunkRelation.SUPPORTS)
    case, table = _case(TEXTS, edge)
    told = select(case, table, table.vectors[0]).told
    assert [(t.unit, t.role) for t in told[:3]] == [(0, Role.ANSWER), (2, Role.SUPPORTS), (1, Role.ADDS)]


def test_an_answer_has_no_more_than_its_limit_and_says_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Sentence {i} says something." for i in range(LIMIT + 3)]
    _scored(monkeypatch, *np.linspace(0.9, 0.89, len(texts)))
    monkeypatch.setattr(selection, "adds", _always)
    case, table = _case(texts)
    assert select(case, table, table.vectors[0]).chosen == tuple(range(LIMIT))
    same = UnitTable(table.units, np.ones_like(table.vectors) / np.sqrt(len(texts)))
    assert select(case, same, table.vectors[0]).chosen == (0,)


def test_a_full_answer_tells_all_that_is_relevant(monkeypatch: pytest.MonkeyPatch) -> None:
    _scored(monkeypatch, 0.3, 0.9, 0.01, 0.4)
    case, table = _case(TEXTS)
    assert select(case, table, table.vectors[0]).chosen == (1,)
    assert select(replace(case, detail="full"), table, table.vectors[0]).chosen == (1, 3, 0)


def test_items_follow_what_introduces_them_in_their_own_order(monkeypatch: pytest.MonkeyPatch) -> None:
    _scored(monkeypatch, 0.88, 0.89, 0.9, 0.87)
    case, table = _case(TEXTS)
    items = tuple(replace(unit, kind=UnitKind.ITEM, lead=0) for unit in table.units[1:])
    listed = UnitTable((replace(table.units[0], introduces=True), *items), table.vectors)
    monkeypatch.setattr(selection, "adds", _always)
    assert select(case, listed, table.vectors[0]).chosen == (0, 1, 2, 3)
    assert select(case, table, table.vectors[0]).chosen == (2, 1, 0, 3)
