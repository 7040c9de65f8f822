"""The steps around the answer graph in a conversation: messages become a question, the answer a message."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from discorag.generation.answer_view import answer_markdown
from discorag.schema.answer import Answer
from discorag.schema.errors import InputError
from nodes.state import AnswerInput, Json

Messages = Annotated[list[AnyMessage], Field(description="The conversation; its last message asks."), add_messages]


class ChatInput(TypedDict):
    """A conversation that ends with a question."""

    messages: Messages


class ChatState(AnswerInput, total=False):
    """The conversation, what was asked of the answer graph, and what came of it."""

    messages: Messages
    answer: Annotated[Json, Field(description="discorag.schema.answer.Answer as JSON: sentences with evidence spans.")]
    ledger: Annotated[list[Json], Field(description="One record per stage of the last question.")]


async def listen(state: ChatState) -> Json:
    """The last message is the question, the system's say how to answer, the others are what was said before.

    Raises:
        InputError: The last message is not the user's.
    """
    *before, last = state.get("messages") or [AIMessage("")]
    if last.type != "human":
        raise InputError("The last message is no question.", hint="End the conversation with a message of the user.")
    said = [_turn(m) for m in before if m.type in ("human", "ai")]
    told = [str(m.text) for m in before if m.type == "system"]
    return {"query": str(last.text), "history": said, "instruction": "\n\n".join(told)}


def _turn(message: AnyMessage) -> dict[str, str]:
    return {"role": "user" if message.type == "human" else "assistant", "content": str(message.text)}


async def reply(state: ChatState) -> Json:
    """The answer as a message: Markdown in which all markup is ours, and as JSON beside it."""
    told: Any = state.get("answer", {})
    text = "".join(answer_markdown(Answer.model_validate(told)))
    return {"messages": [AIMessage(content=text, response_metadata={"disco_rag": told})]}
