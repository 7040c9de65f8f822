"""The whole answer graph with a real vLLM: it ends in an answer, and what the model could not do is counted."""

import re
from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.ingest.survey import Status
from interfaces.facade import AskResult
from tests.conftest import EXAMPLES, Pipelines
from tests.vllm.server import CONTEXT_TOKENS, VllmServer

QUESTION = "Why are some tides higher than others?"
LLM: dict[str, Any] = {"engine": "llm"}
LIMITS: dict[str, Any] = {"answer_tokens": 150}
SLOW = 1800.0
"""Seconds for a call: a busy processor writes five tokens a second, and a reply may have 2,048."""
MARK = re.compile(r"\|\s*\d+\s*[<>=]|</?chunk|&(?:amp|lt|gt);")


@pytest.fixture
async def rag(pipeline: Pipelines, chat: VllmServer) -> DiscoRAG:
    """The tides, with the server as language model."""
    made = pipeline(llm=chat.base_url, model=chat.name, context_tokens=CONTEXT_TOKENS, timeout_s=SLOW)
    await made.aingest(EXAMPLES / "tides", parser="rules", retriever="dense")
    return made


def check(result: AskResult, *stages: str) -> None:
    """An answer without marks of ours; each of these stages is the model's, or counts a failure with its fallback."""
    assert result.answer.text.strip()
    assert not MARK.search(result.answer.text)
    assert bool(result.answer.notes) == bool(result.ledger.failures)
    for name in stages:
        # A stage whose model failed has a second record, by the engine that it fell back to.
        asked = [stage for stage in result.ledger.stages if stage.stage == name and stage.usage.calls]
        assert asked
        assert all(stage.engine == "llm" or stage.failures for stage in asked)
        assert all(failure.fallback for stage in asked for failure in stage.failures)


@pytest.mark.parametrize("options", [{}, {"use_plan": False}], ids=["in one call", "in two"])
async def test_statements_and_answer_by_the_model_end_in_an_answer(
    rag: DiscoRAG, chat: VllmServer, options: dict[str, Any]
) -> None:
    read, written = "vllm:prompt_tokens_total", "vllm:generation_tokens_total"
    before = chat.metric(read), chat.metric(written)
    result = await rag.aask(QUESTION, top_k=3, **LLM, **LIMITS, **options)
    came_at_once = any(stage.counts.get("answers") for stage in result.ledger.stages)
    check(result, "relate", *([] if came_at_once else ["generate"]))
    used = result.ledger.usage
    assert (used.tokens_in, used.tokens_out) == (chat.metric(read) - before[0], chat.metric(written) - before[1])
    assert used.tokens_cached > 0


@pytest.mark.parametrize(
    ("options", "stage"),
    [({}, "relate"), ({"use_graph": False, "use_plan": False}, "generate")],
    ids=["whole", "answer"],
)
async def test_the_papers_pipeline_with_beams_ends_in_an_answer(
    rag: DiscoRAG, options: dict[str, Any], stage: str
) -> None:
    """A model of this size fails at the graph and is not asked again; so its answer is tested by itself too."""
    short: dict[str, Any] = dict.fromkeys(LIMITS, 40)  # beams are slow on a processor
    result = await rag.aask(QUESTION, preset="paper", parser="local", beam_width=2, top_k=2, **short, **options)
    check(result, stage)
    assert result.ledger.usage.beams_refused == 0


async def test_an_ingest_with_trees_by_the_model_ends_with_the_document_stored(
    pipeline: Pipelines, chat: VllmServer, tmp_path: Path
) -> None:
    (tmp_path / "bees.txt").write_text("Bees dance because they found food. The others follow.", encoding="utf-8")
    rag = pipeline(llm=chat.base_url, model=chat.name, context_tokens=CONTEXT_TOKENS, timeout_s=SLOW)
    made = await rag.aingest(tmp_path / "bees.txt", parser="paper", retriever="dense")
    assert [(o.status, o.chunks) for o in made.outcomes] == [(Status.ADDED, 1)]
    assert made.ledger.usage.calls > 0
    assert all(failure.fallback for failure in made.ledger.failures)
