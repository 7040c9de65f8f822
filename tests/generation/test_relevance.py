"""Which sentences the reranker reads, with what above them, and what its logits mean."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from discorag.config import RerankerSettings
from discorag.generation.calibration import (
    PACKAGED,
    absent_terms,
    answer_inputs,
    exact_terms,
    find_calibration,
    read_calibrations,
)
from discorag.generation.relevance import (
    rank_by_search,
    rank_sentences,
    read_evidence,
)
from discorag.ingest.segment.sentence_table import sentence_table
from discorag.models.protocol import Encoder
from discorag.models.reranker import reranker_from
from discorag.schema.errors import ConfigError
from tests.inputs import inputs_from

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
    ],
)
async def test_sentences_about_a_code_of_the_question_outweigh_more_words(
    question: str, best: str, encoder: Encoder
) -> None:
    text = "# 8.1.3\n\n" + " ".join(f"What an option changed in version {i} is much the same." for i in range(9))
    text += "\n\n-S sorts by size.\n\n-s prints the size in blocks.\n\n"
    text += "Since 8.1.4, prompts hide their input.\n"
    inputs = await inputs_from({"notes.md": text}, question, encoder)
    table, query = await sentence_table(inputs.chunks, encoder), await encoder.encode_query(question)
    relevance = await rank_sentences(inputs, table, query, Recording())
    assert table.sentences[relevance.ranked[0]].text == best


async def test_without_a_reranker_the_order_is_that_of_hybrid_search(encoder: Encoder) -> None:
    inputs = await inputs_from(NOTES, "Why do tides rise twice a day?", encoder)
    table = await sentence_table(inputs.chunks, encoder)
    query = await encoder.encode_query(inputs.query)
    relevance = rank_by_search(inputs, table, query)
    assert table.sentences[relevance.ranked[0]].text == "Tides rise twice a day."
    assert await rank_sentences(inputs, table, query, Recording()) is relevance


async def test_names_and_numbers_that_no_source_holds_are_found(encoder: Encoder) -> None:
    inputs = await inputs_from(NOTES, "What did the Apache Foundation earn in 2030?", encoder)
    assert exact_terms(inputs.query) == ["Apache", "Foundation", "2030"]
    assert absent_terms(inputs) == ["Foundation", "2030"]


async def test_an_absent_year_counts_against_answering(encoder: Encoder) -> None:
    report = {"report.md": "The harbour earned 4.2 million crowns in 2023. In 2022 it had earned 3.9 million crowns."}
    reranker = reranker_from(RerankerSettings())
    [calibration] = read_calibrations(PACKAGED)

    async def probability(question: str) -> float:
        inputs = await inputs_from(report, question, encoder)
        table, query = await sentence_table(inputs.chunks, encoder), await encoder.encode_query(question)
        relevance = await rank_sentences(inputs, table, query, reranker)
        logit = await read_evidence(inputs, table, relevance, reranker)
        return calibration.answers.probability(answer_inputs(inputs, logit))

    present, absent = (
        await probability("What did the harbour earn in 2023?"),
        await probability("What did the harbour earn in 2030?"),
    )
    assert present >= calibration.sure
    assert absent < present - 0.1


def test_a_calibration_is_refused_for_another_reranker(tmp_path: Path) -> None:
    [packaged] = read_calibrations(PACKAGED)
    reranker = packaged.fitted_on["reranker"]
    assert find_calibration(reranker) == packaged
    with pytest.raises(ConfigError, match="fitted on the reranker"):
        find_calibration("bge-reranker-v2-m3@server")
    with pytest.raises(ConfigError, match="holds no calibration"):
        find_calibration(reranker, tmp_path / "absent.json")
