"""The part of OpenAI's chat completions protocol that is spoken here; fields that it has beside these are ignored."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from discorag.schema.usage import Usage
from interfaces.http.ask import Reply

_EXAMPLE: JsonDict = {"model": "disco-rag", "messages": [{"role": "user", "content": "Does vitamin D prevent flu?"}]}


class TextPart(BaseModel):
    """A part of a message; text is the only kind that is read."""

    type: Literal["text"]
    text: str = Field(max_length=100_000)


class Turn(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Field(max_length=100_000)] | Annotated[list[TextPart], Field(max_length=100)] | None = None

    @property
    def text(self) -> str:
        """Its text, of all parts."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream tells beside the answer."""

    model_config = ConfigDict(strict=True)

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A conversation; its last message is the question, messages of ``system`` say how to answer."""

    model_config = ConfigDict(strict=True, json_schema_extra={"examples": [_EXAMPLE]})

    model: str = Field(min_length=1, max_length=100, description="A pipeline: GET /v1/models lists them.")
    messages: list[Turn] = Field(min_length=1, max_length=500)
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=100_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=100_000)
    n: Literal[1] = 1
    corpus: str | None = Field(
        default=None, min_length=1, max_length=200, description="Not OpenAI's: named set of documents."
    )


class ChatUsage(BaseModel):
    """Tokens of all calls of the language model that the answer took; none without one."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: dict[str, int]

    @classmethod
    def of(cls, usage: Usage) -> ChatUsage:
        """OpenAI's form of ours."""
        cached = {"cached_tokens": usage.tokens_cached}
        total = usage.tokens_in + usage.tokens_out
        return cls(
            prompt_tokens=usage.tokens_in,
            completion_tokens=usage.tokens_out,
            total_tokens=total,
            prompt_tokens_details=cached,
        )


class ChatMessage(BaseModel):
    """The answer: sentences with the numbers of their sources, the sources, and what they disagree about."""

    role: Literal["assistant"] = "assistant"
    content: str


class Choice(BaseModel):
    """The one choice."""

    index: int = 0
    message: ChatMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class ChatCompletion(BaseModel):
    """A whole reply. ``disco_rag`` is not OpenAI's: the answer as POST /ask gives it."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    disco_rag: Reply


class Model(BaseModel):
    """A pipeline that can be asked."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "disco-rag"


class ModelList(BaseModel):
    """The pipelines that can be asked."""

    object: Literal["list"] = "list"
    data: list[Model]
