"""More evidence than a context holds at once, in front of a server that refuses longer requests as vLLM does."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from discorag.answering.collect import collect_statements
from discorag.answering.reader import ReaderModel
from discorag.answering.write import answer_plainly, write_answer
from discorag.config import LlmSettings
from discorag.models.protocol import Reply, Request
from discorag.models.tokens import PackagedTokens
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.document import Chunk
from discorag.schema.errors import ContextTooLongError
from discorag.schema.values import Span
from eval.running.bill import CountingModel
from tests.answering.cases import inputs_over, reader_of
from tests.answering.test_collect import good_model, many, prompt_of
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

REFUSAL = (
    "This model's maximum context length is {context} tokens. However, you requested {asked} tokens ({prompt} in the "
    "messages, {limit} in the completion). Please reduce the length of the messages or completion."
)


def refusing(context: int, *, by: float = 1.0) -> Script:
    """A good model behind a server that counts ``by`` times the tokens that we count."""

    def respond(body: Body) -> Scripted | str:
        limit = body.get("max_completion_tokens") or body["max_tokens"]
        prompt = round(by * len(PackagedTokens().token_offsets([prompt_of(body)])[0]))
        if prompt + limit > context:
            said = REFUSAL.format(context=context, asked=prompt + limit, prompt=prompt, limit=limit)
            return Scripted(said, status=400)
        return "It did not fall [1]." if "Answer a question" in prompt_of(body) else good_model(body)

    return respond


def read_in(requests: Sequence[Body]) -> set[int]:
    """The passages in these requests, by number."""
    return {
        int(n) for prompt in map(prompt_of, requests) for n in re.findall(r"^<passage (\d+)>", prompt, re.MULTILINE)
    }


@pytest.mark.parametrize("by", [1.0, 1.6], ids=["counts as we do", "counts more"])
@pytest.mark.parametrize("count", [10, 40, 200])
async def test_all_is_read_and_answered_whatever_the_server_refuses(count: int, by: float) -> None:
    inputs = many(count)
    with ScriptedServer(respond := refusing(8192, by=by)) as server:
        reader = reader_of(server, context_tokens=8192, concurrency=8)
        outcome = await collect_statements(inputs, reader)
        parts = [part async for part in write_answer(inputs, outcome.value, reader)]
    answered = [body for body in server.requests if not isinstance(respond(body), Scripted)]
    assert read_in(answered) == set(range(1, count + 1))
    assert outcome.failures == ()
    assert outcome.usage.calls + 1 == len(answered)
    assert isinstance(last := parts[-1], Outcome)
    assert last.value == "It did not fall [1]."


class Together(CountingModel):
    """A model that replies only when as many requests have come as there are batches."""

    def __init__(self, batches: int = 1) -> None:
        super().__init__(PackagedTokens(), LlmSettings(context_tokens=4096))
        self._barrier = asyncio.Barrier(batches)

    async def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        await asyncio.wait_for(self._barrier.wait(), timeout=60)
        async for part in super().stream(request):
            yield part


async def test_batches_are_read_at_the_same_time() -> None:
    counted = ReaderModel(
        model=CountingModel(PackagedTokens(), LlmSettings(context_tokens=4096)), counter=PackagedTokens()
    )
    batches = (await collect_statements(many(40), counted)).counts["batches"]
    assert batches > 1
    together = replace(counted, model=Together(batches))
    assert (await collect_statements(many(40), together)).counts["batches"] == batches


async def test_statements_that_one_merging_call_does_not_hold_are_merged_in_levels() -> None:
    with ScriptedServer(respond := refusing(2560)) as server:
        outcome = await collect_statements(many(200), reader_of(server, context_tokens=2560))
    assert sum("Several readers" in prompt_of(body) for body in server.requests) > 2
    assert not any(isinstance(respond(body), Scripted) for body in server.requests)
    assert outcome.failures == ()
    assert outcome.value.plan.steps


def long_chunk(sentences: int) -> Chunk:
    """A chunk of as many sentences, a little longer each."""
    texts = [f"Trial {n} of 2018 gave {n} people vitamin D, and their risk did not fall. " for n in range(sentences)]
    ends = [sum(map(len, texts[: n + 1])) for n in range(sentences)]
    spans = tuple(Span(start=end - len(text), end=end - 1) for text, end in zip(texts, ends, strict=True))
    text = "".join(texts)
    return Chunk(id="c1", doc_id="d1", order=1, span=Span(start=0, end=len(text)), text=text, sentences=spans)


async def test_a_passage_that_is_longer_than_the_context_is_read_in_parts() -> None:
    chunk = long_chunk(600)
    inputs = AnswerInputs(query="Did the risk fall?", chunks=(chunk,))
    with ScriptedServer(refusing(4096)) as server:
        reader = reader_of(server, context_tokens=4096)
        outcome = await collect_statements(inputs, reader)
        parts = [part async for part in write_answer(inputs, outcome.value, reader)]
    prompts = "\n".join(map(prompt_of, server.requests))
    assert all(span.of(chunk.text) in prompts for span in chunk.sentences)
    assert outcome.failures == ()
    quotations = [q for s in outcome.value.graph.statements for q in s.quotations]
    assert all(span.of(chunk.text) == q.text for q in quotations for span in q.spans)
    assert isinstance(last := parts[-1], Outcome)
    assert [failure.kind for failure in last.failures] == ["ContextTooLongError"]


async def test_a_question_that_leaves_no_room_for_passages_is_an_error_and_costs_no_call() -> None:
    with ScriptedServer(refusing(4096)) as server:
        with pytest.raises(ContextTooLongError, match="no room for passages next to the question"):
            await collect_statements(inputs_over(query="Why? " * 1500), reader_of(server, context_tokens=4096))
        assert server.requests == []


async def test_a_plain_call_that_the_server_refuses_reads_fewer_passages_and_says_so() -> None:
    with ScriptedServer(refusing(4096, by=2.5)) as server:
        parts = [part async for part in answer_plainly(many(12), reader_of(server, context_tokens=4096))]
    assert isinstance(last := parts[-1], Outcome)
    assert last.value == "It did not fall [1]."
    first, *_, answered = server.requests
    assert len(read_in([answered])) < len(read_in([first])) <= 12
    assert last.failures[-1].fallback.startswith(f"{len(read_in([answered]))} of ")
