"""The offline model over a stand-in for vLLM, which is not installed here; the real one: `tests.vllm.test_offline`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from discorag.config import LlmSettings
from discorag.models.deadline import models_within
from discorag.models.offline import OfflineModel
from discorag.schema.errors import (
    ConfigError,
    ContextTooLongError,
    ModelRejectedError,
    ModelUnavailableError,
    OutputTruncatedError,
)
from discorag.schema.usage import Usage
from tests.models.helpers import GOOD, Fruit, fruit_request, streamed, text_request

Turns = list[dict[str, str]]
MODULES = ("vllm", "vllm.sampling_params", "vllm.exceptions")


@dataclass
class Text:
    """As `vllm.CompletionOutput`."""

    text: str
    finish_reason: str = "stop"
    token_ids: tuple[int, ...] = (1, 2, 3)


@dataclass
class Output:
    """As `vllm.RequestOutput`."""

    outputs: list[Text]
    prompt_token_ids: tuple[int, ...] = (1, 2, 3, 4, 5)
    num_cached_tokens: int | None = 2


class Refused(Exception):
    """As `vllm.exceptions.VLLMClientError`, which is no ``ValueError``."""


class Parameters:
    """As `vllm.SamplingParams` and ``StructuredOutputsParams``: what was given."""

    def __init__(self, **given: Any) -> None:
        self.given = given


@dataclass
class Engine:
    """What the stand-in was told, and how it answers a user's last turn."""

    says: Callable[[str], str | Text] = lambda question: f"About {question}"
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    batches: list[list[str]] = field(default_factory=list[list[str]])
    sampling: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def chat(self, messages: list[Turns], sampling_params: list[Parameters], use_tqdm: bool) -> list[Output]:
        """As ``vllm.LLM.chat``."""
        asked = [turns[-1]["content"] for turns in messages]
        self.batches.append(asked)
        self.sampling += [p.given for p in sampling_params]
        said = [self.says(question) for question in asked]
        return [Output([Text(s) if isinstance(s, str) else s]) for s in said]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The stand-in, in the place of vLLM."""
    made, module, parameters, exceptions = Engine(), *map(ModuleType, MODULES)

    def load(model: str, **arguments: Any) -> Engine:
        if "unknown" in model:
            raise ValueError(f"{model} is no model")
        made.arguments = {"model": model, **arguments}
        return made

    vars(module).update(LLM=load, SamplingParams=Parameters)
    vars(parameters).update(StructuredOutputsParams=Parameters)
    vars(exceptions).update(VLLMError=Exception, VLLMClientError=Refused)
    for name, stand_in in zip(MODULES, (module, parameters, exceptions), strict=True):
        monkeypatch.setitem(sys.modules, name, stand_in)
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    return made


@pytest.fixture
def model(engine: Engine) -> Iterator[OfflineModel]:
    opened = offline()
    yield opened
    opened.stop()


def offline(**changes: Any) -> OfflineModel:
    values: dict[str, Any] = {"model": "a/folder", "context_tokens": 2048, "cache": None} | changes
    return OfflineModel(LlmSettings(**values), dtype="bfloat16")


async def test_the_model_is_loaded_with_its_context_and_what_else_is_given(model: OfflineModel, engine: Engine) -> None:
    assert model.name == engine.arguments["model"] == "a/folder"
    assert (engine.arguments["max_model_len"], engine.arguments["dtype"]) == (2048, "bfloat16")


async def test_a_reply_is_checked_and_its_tokens_are_counted(model: OfflineModel, engine: Engine) -> None:
    engine.says = lambda question: GOOD
    reply = await model.complete(fruit_request())
    assert reply.value == Fruit(name="fig", count=3)
    assert reply.usage == Usage(calls=1, tokens_in=5, tokens_out=3, tokens_cached=2)
    assert engine.sampling[0]["structured_outputs"].given == {"json": Fruit.model_json_schema()}


async def test_bad_output_is_repaired_as_an_endpoints_is(model: OfflineModel, engine: Engine) -> None:
    engine.says = lambda question: GOOD if "checker refused" in question else "no JSON"
    reply = await model.complete(fruit_request())
    assert (reply.text, reply.usage.repairs, reply.usage.calls) == (GOOD, 1, 2)


async def test_output_that_is_cut_off_twice_is_an_error(model: OfflineModel, engine: Engine) -> None:
    engine.says = lambda question: Text("cut", finish_reason="length")
    with pytest.raises(OutputTruncatedError):
        await model.complete(text_request())


async def test_requests_made_at_once_are_one_batch(model: OfflineModel, engine: Engine) -> None:
    questions = [f"question {i}" for i in range(20)]
    replies = await asyncio.gather(*(model.complete(text_request(q)) for q in questions))
    assert [r.text for r in replies] == [f"About {q}" for q in questions]
    assert engine.batches == [questions]


async def test_a_request_that_vllm_refuses_fails_alone(model: OfflineModel, engine: Engine) -> None:
    def says(question: str) -> str:
        if "long" in question:
            raise Refused("This model's maximum context length is 2048 tokens.")
        if "odd" in question:
            raise ValueError("The grammar is odd.")
        return "fine"

    engine.says = says
    asked = (model.complete(text_request(q)) for q in ("good", "long", "odd", "better"))
    good, long, odd, better = await asyncio.gather(*asked, return_exceptions=True)
    assert not isinstance(good, BaseException)
    assert not isinstance(better, BaseException)
    assert isinstance(long, ContextTooLongError)
    assert isinstance(odd, ModelRejectedError)


async def test_an_engine_that_dies_is_unavailable(model: OfflineModel, engine: Engine) -> None:
    def says(question: str) -> str:
        raise RuntimeError("EngineDeadError")

    engine.says = says
    with pytest.raises(ModelUnavailableError, match="EngineDeadError"):
        await model.complete(text_request())


async def test_beams_are_refused_once_and_counted(model: OfflineModel, engine: Engine) -> None:
    replies = [await model.complete(text_request(beam_width=3)) for _ in range(2)]
    assert [r.usage.beams_refused for r in replies] == [1, 1]
    assert len(engine.batches) == 2


async def test_a_stream_is_one_piece(model: OfflineModel) -> None:
    pieces, reply = await streamed(model, text_request("Why?"))
    await model.aclose()
    assert pieces == [reply.text] == ["About Why?"]


async def test_a_request_given_up_before_its_batch_is_not_generated(model: OfflineModel, engine: Engine) -> None:
    asked = [asyncio.create_task(model.complete(text_request(q))) for q in ("kept", "given up")]
    await asyncio.sleep(0)
    asked[1].cancel()
    assert (await asked[0]).text == "About kept"
    assert engine.batches == [["kept"]]


async def test_a_runs_deadline_holds_offline_too(model: OfflineModel) -> None:
    with models_within(0), pytest.raises(ModelUnavailableError, match="in time"):
        await model.complete(text_request())


async def test_what_was_asked_before_the_stop_is_answered_and_nothing_after_it(engine: Engine) -> None:
    opened = offline()
    asked = asyncio.create_task(opened.complete(text_request("Why?")))
    await asyncio.sleep(0)
    for _ in range(2):
        await asyncio.to_thread(opened.stop)
    assert (await asked).text == "About Why?"
    with pytest.raises(ModelUnavailableError, match="stopped"):
        await opened.complete(text_request())


async def test_replies_are_remembered_on_disk(engine: Engine, tmp_path: Path) -> None:
    opened = offline(cache=tmp_path)
    first, second = [await opened.complete(text_request("Why?")) for _ in range(2)]
    opened.stop()
    assert (first.usage.calls, second.usage.disk_hits) == (1, 1)
    assert len(engine.batches) == 1


def test_without_vllm_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ConfigError, match=r"pip install \"disco-rag\[vllm\]\""):
        offline()


def test_a_model_that_cannot_be_loaded_is_named(engine: Engine) -> None:
    with pytest.raises(ConfigError, match=r"'unknown'.*DISCO_RAG_LLM__MODEL"):
        offline(model="unknown")


def test_offline_and_an_endpoint_at_once_is_a_contradiction(engine: Engine) -> None:
    with pytest.raises(ConfigError, match=r"both offline and at http://127\.0\.0\.1:1/v1"):
        offline(base_url="http://127.0.0.1:1/v1")
