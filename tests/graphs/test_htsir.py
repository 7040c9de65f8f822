"""HTSIR through the answer graph: a reranker that fails, and answers that the language model refines."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from discorag import AskResult, DiscoRAG
from discorag.config import RerankerSettings
from discorag.options import resolve
from discorag.schema.errors import InputError, ModelRejectedError
from nodes.backends import Backends
from tests.conftest import Examples, Pipelines
from tests.graphs.conftest import Opened
from tests.graphs.scripts import ANSWER, QUERY, TEXTS, model
from tests.inputs import stage_of
from tests.models.test_reranker import Served, failing
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

BETTER = "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults [1]."


def test_another_reranker_answers_without_a_calibration_and_one_that_fails_is_an_error(examples: Examples) -> None:
    shared = examples("vitamin-d").backends

    def ask(url: str) -> AskResult:
        given = RerankerSettings(base_url=url, model="bge")
        settings = shared.settings.model_copy(update={"reranker": given})
        rag = DiscoRAG(backends=Backends(settings, shared.store, shared.encoder, None))
        return rag.ask(QUERY, corpus="vitamin-d", retriever="htsir")

    with Served() as seen:
        result = ask(seen.url)
    assert result.answer.sentences
    assert [(f.stage, f.kind) for f in result.ledger.failures] == [("assess", "ConfigError")]
    with Served(failing(401)) as seen, pytest.raises(ModelRejectedError, match="RERANKER__API_KEY"):
        ask(seen.url)


def refines(body: Body) -> bool:
    return "<answer>" in body["messages"][0]["content"]


def refining(replies: Sequence[Scripted | str]) -> Script:
    """The usual model, whose refinements are ``replies``, one after the other."""
    left = iter(replies)
    usual = model()
    return lambda body: next(left) if "<answer>" in str(body["messages"]) else usual(body)


def test_the_refined_answer_takes_the_place_of_the_first_and_its_call_is_counted(opened: Opened) -> None:
    with ScriptedServer(refining([BETTER])) as server:
        result = opened(server).ask(QUERY, refine=1, instruction="One sentence.")
        [prompt] = [r["messages"][0]["content"] for r in server.requests if refines(r)]
    assert result.answer.text == BETTER.replace(" [1]", "")
    assert [s.supported for s in result.answer.sentences] == [True]
    refine = stage_of(result.ledger, "refine")
    assert (refine.engine, refine.usage.calls, refine.failures) == ("llm", 1, ())
    assert f"<question>\n{QUERY}\n\nOne sentence.\n</question>" in prompt
    assert f"<answer>\n{ANSWER}\n</answer>" in prompt
    assert all(text in prompt for text in TEXTS.values())


def test_rounds_go_on_from_the_last_answer_and_end_when_nothing_changes(opened: Opened) -> None:
    with ScriptedServer(refining([BETTER, BETTER])) as server:
        result = opened(server).ask(QUERY, refine=3)
        prompts = [r["messages"][0]["content"] for r in server.requests if refines(r)]
    assert [ANSWER in p for p in prompts] == [True, False]
    assert [BETTER in p for p in prompts] == [False, True]
    assert result.answer.text == BETTER.replace(" [1]", "")


@pytest.mark.parametrize(
    ("bad", "kind", "calls"),
    [
        ([Scripted("no such key", status=401)], "ModelRejectedError", 1),
        (["Zinc cures colds [7]."] * 2, "InvalidOutputError", 3),
    ],
    ids=["refused", "invented citation"],
)
def test_a_round_that_fails_keeps_the_answer_before_it_and_is_counted(
    opened: Opened, bad: Sequence[Scripted | str], kind: str, calls: int
) -> None:
    with ScriptedServer(refining([BETTER, *bad])) as server:
        result = opened(server).ask(QUERY, refine=2)
    assert result.answer.text == BETTER.replace(" [1]", "")
    [failure] = result.ledger.failures
    assert (failure.stage, failure.kind) == ("refine", kind)
    assert "before" in failure.fallback
    refine = stage_of(result.ledger, "refine")
    assert (refine.engine, refine.usage.calls) == ("llm", calls)


async def test_the_stream_is_told_that_the_first_answer_is_void(pipeline: Pipelines, texts: Path) -> None:
    with ScriptedServer(refining([BETTER])) as server:
        rag: DiscoRAG = pipeline(llm=server.base_url)
        await rag.aingest(texts)
        events = [e async for e in rag.astream(QUERY, refine=1) if not isinstance(e, AskResult)]
    written = [e for e in events if e["stage"] == "generate" and e["event"] in {"token", "restart"}]
    restart = [e["event"] for e in written].index("restart")
    assert "".join(e["token"] for e in written[:restart]) == ANSWER
    assert "".join(e["token"] for e in written[restart + 1 :]) == BETTER


@pytest.mark.parametrize("switches", [{"engine": "local"}, {"preset": "paper"}, {"refine": 4}, {"refine": -1}])
def test_refinement_that_cannot_be_is_refused_before_anything_runs(switches: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="refine"):
        resolve({"refine": 1, **switches}, {}, has_model=True)
