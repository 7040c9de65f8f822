"""The chat endpoint as OpenAI's own client and LangChain's see it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from openai.types.chat import ChatCompletionMessageParam
from pydantic import SecretStr

from discorag.models.protocol import Message
from interfaces.http.access import Role
from interfaces.http.chat import Turn, conversation_of
from tests.graphs.scripts import ANSWER, model
from tests.interfaces.http.conftest import Address, Listen
from tests.interfaces.http.parts import QUERY, Apps, write_keys
from tests.servers.scripted import Body, Scripted, ScriptedServer

ASK: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUERY}]
FOLLOW_UP: list[ChatCompletionMessageParam] = [
    {"role": "user", "content": "What is vitamin D?"},
    {"role": "assistant", "content": "It is made in the skin."},
    {"role": "user", "content": "Does it lower the incidence of influenza?"},
]
MODELS = {"disco-rag", "disco-rag-verbatim", "standard-rag", "disretrieval", "raptor", "htsir"}


def client(url: str, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


def answered(reply: Any) -> dict[str, Any]:
    """The answer as POST /ask gives it, which comes along."""
    return reply.model_extra["disco_rag"]


def test_the_last_turn_is_the_question_and_the_others_are_instructions_or_history() -> None:
    texts = [("system", "Be brief."), ("user", "Why?"), ("assistant", "So."), ("developer", "In verse.")]
    turns = [Turn.model_validate({"role": role, "content": text}) for role, text in [*texts, ("user", "How?")]]
    history = [Message(role="user", content="Why?"), Message(role="assistant", content="So.")]
    assert conversation_of(turns) == {"query": "How?", "history": history, "instruction": "Be brief.\n\nIn verse."}


def test_a_whole_answer_names_its_sources_and_what_it_cost(listening: Address) -> None:
    with ScriptedServer(model()) as llm:
        reply = client(listening(llm=llm.base_url)).chat.completions.create(model="disco-rag", messages=ASK)
    content = reply.choices[0].message.content
    assert content
    assert "12 %" in content
    assert TEXT in content
    assert (reply.model, reply.choices[0].finish_reason) == ("disco-rag", "stop")
    assert reply.usage
    stages = answered(reply)["ledger"]["stages"]
    assert reply.usage.prompt_tokens == sum(s["usage"]["tokens_in"] for s in stages) > 0
    assert reply.usage.completion_tokens == sum(s["usage"]["tokens_out"] for s in stages) > 0
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.usage.prompt_tokens_details
    assert reply.usage.prompt_tokens_details.cached_tokens == sum(s["usage"]["tokens_cached"] for s in stages)
    assert answered(reply)["draft"] == ANSWER


TEXT = "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults."


def test_a_stream_brings_the_words_of_the_whole_answer_and_the_usage(listening: Address) -> None:
    with ScriptedServer(model()) as llm:
        chat = client(listening(llm=llm.base_url)).chat.completions
        whole = chat.create(model="disco-rag", messages=ASK)
        chunks = list(chat.create(model="disco-rag", messages=ASK, stream=True))
    deltas = [c.choices[0].delta.content or "" for c in chunks]
    assert "".join(deltas) == whole.choices[0].message.content
    assert sum(d != "" for d in deltas) > 1
    assert len({c.id for c in chunks}) == 1
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens > 0


def test_an_answer_that_a_model_did_not_write_says_so_and_what_it_quotes_is_no_link(listening: Address) -> None:
    refused = Scripted("see [1](http://evil.test)", status=401)
    with ScriptedServer(lambda _: refused) as llm:
        asked = client(listening(llm=llm.base_url)).chat.completions
        chunks = list(asked.create(model="disco-rag", messages=ASK, stream=True))
    said = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    [note] = answered(chunks[-1])["answer"]["notes"]
    assert note.startswith("The language model did not make the graph: ")
    assert said.count("The language model did not make") == 1
    assert "[1](http" not in said


def test_the_models_are_the_pipelines_that_can_be_asked(apps: Apps, listen: Listen, uploads: Path) -> None:
    chat = client(listen(apps(uploads)))
    listed = {m.id for m in chat.models.list()}
    assert {name for name in listed if "/" not in name} == MODELS
    assert "disco-rag/default" in listed
    with pytest.raises(openai.NotFoundError, match="disco-rag-paper"):
        chat.chat.completions.create(model="disco-rag-paper", messages=ASK)
    with ScriptedServer(model()) as llm:
        with_llm = client(listen(apps(uploads / "more", llm=llm.base_url)))
        assert {m.id for m in with_llm.models.list()} > MODELS | {"disco-rag-written", "disco-rag-paper", "rdr2"}


def test_langchains_client_names_a_corpus_and_streams_its_answer(listening: Address) -> None:
    chat = ChatOpenAI(model="disco-rag/default", base_url=f"{listening()}/v1", api_key=SecretStr("none"), max_retries=0)
    whole = chat.invoke(QUERY).text
    assert TEXT in whole
    assert "".join(chunk.text for chunk in chat.stream(QUERY)) == whole


def test_errors_are_those_of_the_client(listening: Address, tmp_path: Path) -> None:
    reader, writer, few = write_keys(
        tmp_path / "keys.toml",
        ("reader", "alpha", [Role.READ]),
        ("writer", "alpha", [Role.WRITE]),
        ("few", "alpha", [Role.READ]),
    )
    url = listening(keys=tmp_path / "keys.toml", requests_per_minute=3)

    def create(headers: dict[str, str], **more: Any) -> Any:
        key = headers["Authorization"].removeprefix("Bearer ")
        asked: dict[str, Any] = {"model": "disco-rag", "messages": ASK}
        chat: Any = client(url, key).chat.completions
        return chat.create(**asked | more)

    with pytest.raises(openai.AuthenticationError, match="Not a key"):
        create({"Authorization": "Bearer wrong"})
    with pytest.raises(openai.PermissionDeniedError):
        create(writer)
    with pytest.raises(openai.NotFoundError, match="gpt-9"):
        create(reader, model="gpt-9")
    with pytest.raises(openai.UnprocessableEntityError, match="not a question"):
        create(reader, messages=[*ASK, {"role": "assistant", "content": "Yes."}])
    with pytest.raises(openai.UnprocessableEntityError, match="messages"):
        create(reader, messages=[])
    for _ in range(3):
        create(few)
    with pytest.raises(openai.RateLimitError) as error:
        create(few)
    assert int(error.value.response.headers["retry-after"]) >= 1


def test_an_error_inside_a_stream_is_raised_by_the_client(listening: Address) -> None:
    chat = client(listening()).chat.completions
    stream = chat.create(model="disco-rag/nothing", messages=ASK, stream=True)
    with pytest.raises(openai.APIError, match="Nothing is stored in corpus"):
        list(stream)


def test_parts_of_a_message_are_read_as_one_text_and_other_kinds_refused(listening: Address) -> None:
    chat = client(listening()).chat.completions
    parts: Any = [{"type": "text", "text": "Does vitamin D"}, {"type": "text", "text": "lower influenza?"}]
    reply = chat.create(model="disco-rag", messages=[{"role": "user", "content": parts}])
    assert answered(reply)["answer"]["query"] == "Does vitamin D\nlower influenza?"
    image: Any = [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}}]
    with pytest.raises(openai.UnprocessableEntityError):
        chat.create(model="disco-rag", messages=[{"role": "user", "content": image}])


def rewriting(reply: Scripted | str) -> Callable[[Body], Scripted | str]:
    """The usual model, which gives ``reply`` where a follow-up is to be made self-contained."""
    usual = model()
    return lambda body: reply if "<conversation>" in body["messages"][-1]["content"] else usual(body)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_of_a_follow_up_the_question_as_rewritten_is_searched_and_its_tokens_are_counted(
    listening: Address, stream: bool
) -> None:
    with ScriptedServer(rewriting(json.dumps({"question": QUERY}))) as llm:
        chat = client(listening(llm=llm.base_url)).chat.completions
        reply = chat.create(model="disco-rag", messages=FOLLOW_UP, stream=stream)
        chunks: list[Any] = list(reply) if stream else [reply]  # pyright: ignore[reportArgumentType]
        prompt = llm.requests[0]["messages"][-1]["content"]
    result = next(answered(c) for c in chunks if "disco_rag" in c.model_extra)
    assert result["answer"]["query"] == QUERY
    assert "user: What is vitamin D?\nassistant: It is made in the skin." in prompt
    first, *rest = result["ledger"]["stages"]
    assert (first["stage"], first["engine"], first["failures"]) == ("prepare", "llm", [])
    assert first["usage"]["tokens_in"] > 0
    expected = first["usage"]["tokens_in"] + sum(s["usage"]["tokens_in"] for s in rest)
    assert chunks[-1].usage.prompt_tokens == expected


@pytest.mark.parametrize(
    ("reply", "kind", "instead"),
    [
        (Scripted("broken", status=500), "ModelUnavailableError", "the answer without a language model"),
        ('{"question": ""}', "InvalidOutputError", "the question as it stands"),
    ],
)
def test_a_follow_up_that_cannot_be_rewritten_is_asked_as_it_stands_and_the_ledger_says_so(
    listening: Address, reply: Scripted | str, kind: str, instead: str
) -> None:
    with ScriptedServer(rewriting(reply)) as llm:
        chat = client(listening(llm=llm.base_url)).chat.completions
        result = answered(chat.create(model="disco-rag", messages=FOLLOW_UP))
    assert result["answer"]["query"] == FOLLOW_UP[-1].get("content")
    (failure,) = result["ledger"]["stages"][0]["failures"]
    assert (failure["stage"], failure["kind"]) == ("prepare", kind)
    assert failure["fallback"] == instead


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_without_a_language_model_an_answer_to_a_follow_up_says_that_it_is_of_the_last_message_alone(
    listening: Address, stream: bool
) -> None:
    chat = client(listening()).chat.completions
    reply: Any = chat.create(model="disco-rag", messages=FOLLOW_UP, stream=stream)
    text = "".join(c.choices[0].delta.content or "" for c in reply) if stream else str(reply.choices[0].message.content)
    assert text.startswith("(There is no language model that could read the conversation")
