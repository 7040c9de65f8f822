"""Which sentences the reranker reads, what its logits mean, and which sentences an answer consists of."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discorag.generation.calibration import (
    PACKAGED,
    Calibration,
    Logistic,
    absent_share,
    absent_terms,
    asks_about_the_whole,
    assess_evidence,
    exact_terms,
    find_calibration,
    read_calibration,
)
from discorag.generation.relevance import Relevance, rank_sentences, read_evidence
from discorag.generation.selection import LIMIT, UNCALIBRATED, Role, Selection, select_sentences
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable, sentence_table
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk, UnitKind
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from tests.inputs import inputs_from

TEXTS = ["The first is one thing.", "The second is another.", "The third adds more.", "The fourth repeats nothing."]
CALIBRATION = Calibration(
    fitted_on={"reranker": "r@1", "encoder": "e@1"},
    answers=Logistic(weights=(1.0, -2.0), bias=0.0, threshold=0.5),
    sure=0.6,
    gap=1.0,
    narrowing=0.0,
    relevant=-5.0,
)


def _chunk(i: int, text: str, document: str) -> Chunk:
    whole = {"start": 0, "end": len(text)}
    spans = sentence_spans(text)
    return Chunk.model_validate(
        {"id": f"c{i}", "doc_id": document, "order": 0, "span": whole, "text": text, "sentences": spans}
    )


def _case(texts: list[str], *edges: Edge, documents: int = 1) -> tuple[AnswerInputs, SentenceTable]:
    chunks = tuple(_chunk(i, t, f"d{i % documents}") for i, t in enumerate(texts))
    units = tuple(Sentence(i, 1, c.sentences[0], c.text, c.text) for i, c in enumerate(chunks, start=1))
    graph = RhetoricalGraph(chunks=tuple(c.id for c in chunks), edges=edges) if edges else None
    return AnswerInputs(query="?", chunks=chunks, graph=graph), SentenceTable(
        units, np.eye(len(texts), dtype=np.float32)
    )


def _select(
    logits: list[float], inputs: AnswerInputs, table: SentenceTable, calibration: Calibration | None = CALIBRATION
) -> Selection:
    return select_sentences(inputs, table, Relevance(np.array(logits)), calibration)


def test_the_best_sentence_comes_first_and_the_answer_stops_where_nothing_adds() -> None:
    assert _select([7.5, 8.0, 3.0, 7.9], *_case(TEXTS)).indices == (1, 3, 0)


def test_both_of_two_sources_are_heard_and_of_more_only_those_close_to_the_best() -> None:
    assert _select([9.0, 8.2, 8.8, 1.0], *_case(TEXTS, documents=1)).indices == (0, 2, 1)
    assert _select([9.0, 8.2, 8.8, 1.0], *_case(TEXTS, documents=4)).indices == (0, 2)
    assert _select([9.0, -6.0, -7.0, -8.0], *_case(TEXTS, documents=2)).indices == (0, 1)


def test_a_sentence_that_refers_to_what_is_not_shown_is_left_out_unless_it_is_the_best() -> None:
    texts = ["It is high.", "They fall twice.", "Tides rise.", "The moon pulls."]
    assert _select([9.0, 8.9, 8.8, 8.7], *_case(texts)).indices == (0, 2, 3)


def test_what_opposes_a_sentence_follows_it_and_disputed_hearsay_is_not_what_an_answer_starts_with() -> None:
    edge = Edge(source="c2", target="c0", relation=ChunkRelation.CONTRADICTS)
    found = _select([9.0, 8.9, -9.0, 8.8], *_case(TEXTS, edge))
    assert [(s.index, s.role, s.of) for s in found.sentences[:2]] == [(0, Role.ANSWER, None), (2, Role.OPPOSES, 0)]
    assert found.conflicts == ((0, 2),)
    edge = Edge(source="c1", target="c0", relation=ChunkRelation.CONTRADICTS)
    inputs, table = _case(["Dr Vasse says that it works.", "It does not work."], edge)
    assert _select([9.0, 8.0], inputs, table).indices == (1, 0)


def test_an_answer_has_no_more_than_its_limit_and_says_nothing_twice() -> None:
    texts = [f"Sentence {i} says something." for i in range(LIMIT + 3)]
    logits = [9.0 - i / 100 for i in range(len(texts))]
    assert _select(logits, *_case(texts)).indices == tuple(range(LIMIT))
    inputs, table = _case(["Tides rise twice a day."] * len(texts))
    unseen = tuple(replace(unit, prefix=f"Table {i}: ") for i, unit in enumerate(table.sentences))
    for units in (table.sentences, unseen):
        assert _select(logits, inputs, SentenceTable(units, table.vectors)).indices == (0,)


def test_a_negation_is_not_a_repetition() -> None:
    assert _select([9.0, 8.9], *_case(["The drug works in adults.", "The drug works not in adults."])).indices == (0, 1)


def test_a_full_answer_tells_all_that_is_relevant_and_an_uncalibrated_one_has_a_fixed_length() -> None:
    inputs, table = _case(TEXTS)
    assert _select([0.0, 9.0, -8.0, 4.0], inputs, table).indices == (1,)
    assert _select([0.0, 9.0, -8.0, 4.0], replace(inputs, detail="full"), table).indices == (1, 3, 0)
    found = _select([1.0, 4.0, 2.0, 3.0], *_case(TEXTS), calibration=None)
    assert found.indices == (1, 3, 2)
    assert len(found.indices) == UNCALIBRATED


def test_items_follow_what_introduces_them_in_their_own_order() -> None:
    inputs, table = _case(TEXTS)
    items = tuple(replace(unit, kind=UnitKind.ITEM, lead=0) for unit in table.sentences[1:])
    listed = SentenceTable((replace(table.sentences[0], introduces=True), *items), table.vectors)
    assert _select([8.8, 8.9, 9.0, 8.7], inputs, listed).indices == (0, 1, 2, 3)
    spans = (Span(start=at, end=at + 9) for at in (40, 10, 20, 30))
    units = (replace(u, headings=("Why do tides rise?",), span=s) for u, s in zip(table.sentences, spans, strict=True))
    below_a_question = SentenceTable(tuple(units), table.vectors)
    assert _select([8.8, 8.9, 9.0, 8.7], inputs, below_a_question).indices == (1, 2, 3, 0)
    assert _select([8.8, 8.9, 9.0, 8.7], inputs, table).indices == (2, 1, 0, 3)


NOTES = {
    "licence.md": "A copy of the Apache licence must be given to every recipient. Files that were changed "
    "must say so. Trade marks may not be used.",
    "tides.md": "The moon pulls the sea. Tides rise twice a day.",
}


class Recording:
    """A reranker that keeps what it was given and prefers longer texts."""

    version = "recording@1"

    def __init__(self) -> None:
        self.read: list[list[str]] = []

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        self.read.append(list(texts))
        return tuple(float(len(text)) for text in texts)


async def test_a_sentence_is_read_under_its_title_and_headings_and_only_once_a_question(encoder: Encoder) -> None:
    inputs = await inputs_from(NOTES, "What must be given under the Apache License?", encoder)
    inputs = replace(
        inputs, chunks=tuple(c.model_copy(update={"headings": ("Terms", "Copies")}) for c in inputs.chunks)
    )
    table, reranker = await sentence_table(inputs.chunks, encoder), Recording()
    query = await encoder.encode_query(inputs.query)
    first = await rank_sentences(inputs, table, query, reranker)
    assert await rank_sentences(inputs, table, query, reranker) is first
    assert await rank_sentences(replace(inputs, query="And tides?"), table, query, reranker) is not first
    [texts, _] = reranker.read
    assert "licence.md > Terms > Copies: A copy of the Apache licence must be given to every recipient." in texts
    assert len(texts) == 5


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What does the -S option do?", "-S sorts by size."),
        ("What does the -s option do?", "-s prints the size in blocks."),
        ("What changed in version 8.1.4?", "Since 8.1.4, prompts hide their input."),
        ("What changed in version 9.0.0?", "Since v9.0.0, rivets are gone."),
        ("Does weld3 sort?", "What an option changed in version 0 is much the same."),
    ],
)
async def test_sentences_about_a_code_of_the_question_outweigh_more_words(
    question: str, best: str, encoder: Encoder
) -> None:
    text = "# 8.1.3\n\nUse weld3.\n\n" + " ".join(
        f"What an option changed in version {i} is much the same." for i in range(9)
    )
    text += "\n\n-S sorts by size.\n\n-s prints the size in blocks.\n\n"
    text += "Since 8.1.4, prompts hide their input.\n\nSince v9.0.0, rivets are gone.\n"
    inputs = await inputs_from({"weld3.md": text}, question, encoder)
    table, query = await sentence_table(inputs.chunks, encoder), await encoder.encode_query(question)
    relevance = await rank_sentences(inputs, table, query, Recording())
    assert table.sentences[relevance.ranked[0]].text == best


async def test_names_and_numbers_that_no_source_holds_are_found(encoder: Encoder) -> None:
    inputs = await inputs_from(NOTES, "What did the Apache Foundation earn in 2030? What else?", encoder)
    assert exact_terms(inputs.query) == ["Apache", "Foundation", "2030"]
    assert absent_terms(inputs) == ["Foundation", "2030"]
    assert absent_share(inputs) == 2 / 3


@pytest.mark.parametrize(
    ("question", "is_about_the_whole"),
    [("What is this paper about?", True), ("Summarize the main points.", True), ("What does the paper find?", False)],
)
def test_a_question_about_a_document_is_known_by_its_words(question: str, is_about_the_whole: bool) -> None:
    assert asks_about_the_whole(question) is is_about_the_whole


async def test_an_absent_year_counts_against_answering(encoder: Encoder) -> None:
    report = {"report.md": "The harbour earned 4.2 million crowns in 2023. In 2022 it had earned 3.9 million crowns."}
    inputs = await inputs_from(report, "What did the harbour earn in 2023?", encoder)
    present = assess_evidence(inputs, 1.0, CALIBRATION)
    absent = assess_evidence(replace(inputs, query="What did the harbour earn in 2030?"), 1.0, CALIBRATION)
    assert (present.probability, present.refusal, present.unsure) == (0.7311, "", False)
    assert absent.refusal.startswith("No passage seems to answer the question")


async def test_evidence_is_the_best_sentence_and_the_passage_around_it(encoder: Encoder) -> None:
    inputs = await inputs_from(NOTES, "Why do tides rise?", encoder)
    table, query = await sentence_table(inputs.chunks, encoder), await encoder.encode_query(inputs.query)
    reranker = Recording()
    relevance = await rank_sentences(inputs, table, query, reranker)
    best = table.sentences[relevance.ranked[0]]
    passage = inputs.chunks[best.chunk - 1].text
    assert await read_evidence(inputs, table, relevance, reranker) == (len(best.plain) + len(passage)) / 2
    assert reranker.read[-1] == [*(table.sentences[i].plain for i in relevance.ranked[:3]), passage]


async def test_an_entry_is_read_again_under_the_heading_that_says_what_it_is(encoder: Encoder) -> None:
    options = "OPTIONS\n       -d, --dig-holes\n           Detect and dig holes.  This makes files sparse.\n"
    manual = f"NAME\n       dig - digs\n\n{options}"
    inputs = await inputs_from({"dig.txt": manual}, "Which option detects holes?", encoder)
    table, query, reranker = await sentence_table(inputs.chunks, encoder), await encoder.encode_query("?"), Recording()
    await read_evidence(inputs, table, await rank_sentences(inputs, table, query, reranker), reranker)
    again = [text for texts in reranker.read[1:] for text in texts]
    assert "OPTIONS -d, --dig-holes: Detect and dig holes." in again


def test_a_calibration_is_refused_for_another_reranker(tmp_path: Path) -> None:
    packaged = read_calibration(PACKAGED)
    reranker = packaged.fitted_on["reranker"]
    assert find_calibration(reranker) == packaged
    with pytest.raises(ConfigError, match="fitted on the reranker"):
        find_calibration("bge-reranker-v2-m3@server")
    with pytest.raises(ConfigError, match="holds no calibration"):
        find_calibration(reranker, tmp_path / "absent.json")
