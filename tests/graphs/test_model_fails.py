"""When the language model fails, the answer is the one without it, word for word, and the result says why."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
import tomllib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from discorag import AskResult, DiscoRAG
from discorag.config import LlmSettings
from discorag.models.protocol import Message
from discorag.schema.errors import InvalidOutputError, ModelError, ModelUnavailableError
from discorag.schema.ledger import WITHOUT_MODEL
from graphs.answer import build
from nodes.backends import Backends, configured_model
from nodes.context import AnswerContext
from tests.conftest import EXAMPLES, Examples, Pipelines
from tests.graphs.paper_scripts import model as paper_model
from tests.graphs.scripts import at_odds, model, turn_of
from tests.servers.loopback import free_port
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

_FILE = tomllib.loads((EXAMPLES / "questions.toml").read_text("utf-8"))
QUESTIONS = [
    *((q["corpus"], q["text"]) for q in (*_FILE["question"], *_FILE["extra"])),
    ("vitamin-d", "How large was the trial in schoolchildren?"),
    ("vitamin-d", "What is vitamin D made from?"),
    ("vitamin-d", "Who won the chess championship of 1972?"),
    ("tides", "What is a neap tide?"),
    ("tides", "How do I read a tide table?"),
    ("library-handbook", "How many books may a child borrow?"),
    ("library-handbook", "Who decides about complaints?"),
    ("school-start", "What did the county study find about attendance?"),
    ("bees", "What does the queen do?"),
    ("zh", "绿茶含有多少咖啡因？"),
]
BROKEN = Scripted("broken", status=500)
FLU = ("vitamin-d", "Does vitamin D prevent influenza?")


@contextmanager
def served(examples: Examples, corpus: str, script: Script | None) -> Generator[tuple[DiscoRAG, list[Body]]]:
    """A pipeline over an example corpus, whose language model follows a script; None: there is no server.

    Next to it, the requests so far.
    """
    with ScriptedServer(script or model()) as server:
        shared = examples(corpus).backends
        url = server.base_url if script else f"http://127.0.0.1:{free_port()}/v1"
        llm = LlmSettings(base_url=url, model="scripted", cache=None, retries=0)
        settings = shared.settings.model_copy(update={"llm": llm})
        backends = Backends(settings, shared.store, shared.encoder, configured_model(settings))
        yield DiscoRAG(backends=backends), server.requests


def without_notes(result: AskResult) -> dict[str, Any]:
    return result.model_dump(include={"hits", "evidence", "graph", "draft"}) | {
        "answer": result.answer.model_copy(update={"notes": ()})
    }


def check_equal(written: AskResult, local: AskResult, stage: str) -> None:
    """The answer is the local one, and the ledger and one note say in which stage the model failed."""
    assert without_notes(written) == without_notes(local)
    assert (written.model_failed, local.model_failed) == (True, False)
    [failure] = [f for f in written.ledger.failures if f.fallback == WITHOUT_MODEL]
    assert failure.stage == stage
    assert any(s.stage == stage and s.engine == "llm" for s in written.ledger.stages)
    notes = [note for note in written.answer.notes if note.startswith("The language model did not make")]
    product = {"relate": "graph", "generate": "answer"}[stage]
    assert [note.partition(":")[0] for note in notes] == [f"The language model did not make the {product}"]


FAILING: list[tuple[Script | None, str, list[str]]] = [
    (None, "relate", []),
    (model({"statements": BROKEN}), "relate", ["both"]),
    (model({"answer": "..."}), "generate", ["both", "answer", "answer"]),
    (model({"both": at_odds, "answer": BROKEN}), "generate", ["both", "answer"]),
]
CASES = [(*question, *FAILING[i % len(FAILING)]) for i, question in enumerate(QUESTIONS)]


@pytest.mark.parametrize(("corpus", "question", "script", "stage", "turns"), CASES)
def test_the_answer_is_the_one_without_a_model_and_the_model_is_not_asked_again(
    examples: Examples, corpus: str, question: str, script: Script | None, stage: str, turns: list[str]
) -> None:
    local = examples(corpus).ask(question, corpus=corpus)
    with served(examples, corpus, script) as (rag, requests):
        written = rag.ask(question, corpus=corpus)
    assert [turn_of(request) for request in requests] == turns
    check_equal(written, local, stage)


def test_another_preset_answers_as_it_does_without_a_model(examples: Examples) -> None:
    corpus, question = FLU
    local = examples(corpus).ask(question, corpus=corpus, preset="standard")
    with served(examples, corpus, lambda _: BROKEN) as (rag, requests):
        written = rag.ask(question, corpus=corpus, preset="standard")
    assert len(requests) == 1
    check_equal(written, local, "generate")


@pytest.mark.parametrize("preset", ["raptor", "htsir", "disretrieval"])
def test_trees_whose_summaries_a_model_wrote_are_searched_again_but_not_made_again(
    pipeline: Pipelines, preset: str
) -> None:
    with ScriptedServer(model({"answer": BROKEN})) as server:
        rag = pipeline(llm=server.base_url)
        rag.ingest(EXAMPLES / "tides")
        result = rag.ask("What is a neap tide?", preset=preset)
    assert [turn_of(r) for r in server.requests].index("answer") == len(server.requests) - 1
    assert result.model_failed
    assert all(sentence.supported for sentence in result.answer.sentences)


@pytest.mark.parametrize("preset", ["paper", "rdr2"])
def test_a_preset_that_needs_a_model_gives_way_to_the_default(examples: Examples, preset: str) -> None:
    corpus, question = FLU
    local = examples(corpus).ask(question, corpus=corpus)
    with served(examples, corpus, paper_model({"answer": BROKEN, "standard": BROKEN})) as (rag, _):
        written = rag.ask(question, corpus=corpus, preset=preset)
    check_equal(written, local, "generate")


def test_a_model_that_cannot_rewrite_a_question_is_not_asked_to_answer_it(examples: Examples) -> None:
    corpus, question = FLU
    before = [Message(role="user", content="What is vitamin D?"), Message(role="assistant", content="A vitamin.")]
    local = examples(corpus).ask(question, corpus=corpus, history=before)
    with served(examples, corpus, lambda _: BROKEN) as (rag, requests):
        written = rag.ask(question, corpus=corpus, history=before)
    assert len(requests) == 1
    assert (written.model_failed, without_notes(written)) == (True, without_notes(local))


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (model({"answer": BROKEN}), ModelUnavailableError),
        (model({"statements": "..."}), InvalidOutputError),
        (None, ModelUnavailableError),
    ],
    ids=["at the answer", "no statements", "unreachable"],
)
def test_in_a_strict_question_it_is_an_error_with_the_cause(
    examples: Examples, script: Script | None, error: type[ModelError]
) -> None:
    corpus, question = FLU
    with served(examples, corpus, script) as (rag, _), pytest.raises(error):
        rag.ask(question, corpus=corpus, strict=True)


async def test_what_was_shown_of_a_draft_is_void_and_the_stages_run_again(examples: Examples) -> None:
    corpus, question = FLU
    examples(corpus)
    script = model({"answer": Scripted("Vitamin D lowers " * 40, break_after=3)})
    with served(examples, corpus, script) as (rag, _):
        events = [event async for event in rag.astream(question, corpus=corpus)]
    result = events.pop()
    assert isinstance(result, AskResult)
    shown = [e for e in events if not isinstance(e, AskResult) and e["event"] in ("token", "restart")]
    restart = [e["event"] for e in shown].index("restart")
    assert restart > 0
    assert "".join(e["token"] for e in shown[restart + 1 :]) == result.draft
    started = [e["stage"] for e in events if not isinstance(e, AskResult) and e["event"] == "start"]
    assert started.count("prepare") == 2


async def test_the_next_question_of_a_thread_asks_the_model_again(examples: Examples) -> None:
    corpus, question = FLU
    examples(corpus)
    replies = iter([BROKEN])
    script: Script = lambda body: next(replies, None) or model()(body)  # noqa: E731
    with served(examples, corpus, script) as (rag, requests):
        graph = build(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "t"}}
        context = AnswerContext(backends=rag.backends, corpus=corpus)
        first = await graph.ainvoke({"query": question}, config, context=context)
        asked = len(requests)
        second = await graph.ainvoke({"query": question}, config, context=context)
    assert asked == 1
    assert [turn_of(r) for r in requests[asked:]] == ["both"]
    assert first["answer"]["notes"]
    assert not second["answer"]["notes"]
    assert [record["stage"] for record in second["ledger"]].count("prepare") == 1
