"""Which sentences an answer consists of, and in which order."""

from dataclasses import replace

import numpy as np

from discorag.generation.calibration import Calibration, Logistic
from discorag.generation.relevance import Relevance
from discorag.generation.selection import LIMIT, UNCALIBRATED, Role, Selection, select_sentences
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk, UnitKind
from discorag.text.sentences import sentence_spans

TEXTS = ["The first is one thing.", "The second is another.", "The third adds more.", "The fourth repeats nothing."]
CALIBRATION = Calibration(
    fitted_on={"reranker": "r@1", "encoder": "e@1"},
    answers=Logistic(weights=(1.0, 0.0, 0.0), bias=0.0, threshold=0.5),
    sure=0.6,
    adds=Logistic(weights=(0.0, -1.0), bias=1.0, threshold=0.5),  # up to one below the best
    strong=6.0,
    second=-5.0,
)


def _chunk(i: int, text: str, document: str) -> Chunk:
    whole = {"start": 0, "end": len(text)}
    spans = sentence_spans(text)
    return Chunk.model_validate(
        {"id": f"c{i}", "doc_id": document, "order": 0, "span": whole, "text": text, "sentences": spans}
    )


def _case(texts: list[str], *edges: Edge, documents: int = 1) -> tuple[AnswerInputs, SentenceTable]:
    chunks = tuple(_chunk(i, t, f"d{i % documents}") for i, t in enumerate(texts))
    units = tuple(Sentence(i, 1, c.sentences[0], c.text) for i, c in enumerate(chunks, start=1))
    graph = RhetoricalGraph(chunks=tuple(c.id for c in chunks), edges=edges) if edges else None
    return AnswerInputs(query="?", chunks=chunks, graph=graph), SentenceTable(
        units, np.eye(len(texts), dtype=np.float32)
    )


def _select(
    logits: list[float], inputs: AnswerInputs, table: SentenceTable, calibration: Calibration | None = CALIBRATION
) -> Selection:
    return select_sentences(inputs, table, Relevance(np.array(logits), "r@1"), calibration)


def test_the_best_sentence_comes_first_and_the_answer_stops_where_nothing_adds() -> None:
    assert _select([7.5, 8.0, 3.0, 7.9], *_case(TEXTS)).indices == (1, 3, 0)


def test_each_source_with_a_strong_sentence_gives_one_before_any_gives_two() -> None:
    texts = [f"Sentence {i} says something else." for i in range(2 * LIMIT + 2)]
    logits = [9.0 - i / 100 if i % 2 == 0 else 6.5 for i in range(len(texts))]  # the second source is weaker throughout
    assert 1 in _select(logits, *_case(texts, documents=2)).indices


def test_the_second_best_source_is_heard_and_a_weak_third_one_is_not() -> None:
    assert _select([9.0, 1.0, 0.0, -20.0], *_case(TEXTS, documents=4)).indices == (0, 1)
    assert _select([9.0, -6.0, -7.0, -8.0], *_case(TEXTS, documents=4)).indices == (0,)


def test_what_opposes_a_sentence_follows_it_before_the_next_best() -> None:
    edge = Edge(source="c2", target="c0", relation=ChunkRelation.CONTRADICTS)
    found = _select([9.0, 8.9, -9.0, 8.8], *_case(TEXTS, edge))
    assert [(s.index, s.role, s.of) for s in found.sentences[:2]] == [(0, Role.ANSWER, None), (2, Role.OPPOSES, 0)]
    assert found.conflicts == ((0, 2),)


def test_an_answer_has_no_more_than_its_limit_and_says_nothing_twice() -> None:
    texts = [f"Sentence {i} says something." for i in range(LIMIT + 3)]
    logits = [9.0 - i / 100 for i in range(len(texts))]
    assert _select(logits, *_case(texts)).indices == tuple(range(LIMIT))
    inputs, table = _case(["Tides rise twice a day."] * len(texts))
    assert _select(logits, inputs, table).indices == (0,)


def test_a_negation_is_not_a_repetition() -> None:
    assert _select([9.0, 8.9], *_case(["The drug works in adults.", "The drug works not in adults."])).indices == (0, 1)


def test_a_full_answer_tells_all_that_is_relevant() -> None:
    inputs, table = _case(TEXTS)
    assert _select([0.0, 9.0, -8.0, 4.0], inputs, table).indices == (1,)
    assert _select([0.0, 9.0, -8.0, 4.0], replace(inputs, detail="full"), table).indices == (1, 3, 0)


def test_without_a_calibration_an_answer_has_a_fixed_number_of_sentences() -> None:
    found = _select([1.0, 4.0, 2.0, 3.0], *_case(TEXTS), calibration=None)
    assert found.indices == (1, 3, 2)
    assert len(found.indices) == UNCALIBRATED


def test_items_follow_what_introduces_them_in_their_own_order() -> None:
    inputs, table = _case(TEXTS)
    items = tuple(replace(unit, kind=UnitKind.ITEM, lead=0) for unit in table.sentences[1:])
    listed = SentenceTable((replace(table.sentences[0], introduces=True), *items), table.vectors)
    assert _select([8.8, 8.9, 9.0, 8.7], inputs, listed).indices == (0, 1, 2, 3)
    assert _select([8.8, 8.9, 9.0, 8.7], inputs, table).indices == (2, 1, 0, 3)
