"""The steps around the answer graph in a conversation: messages become a question, the answer a message."""

from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from discorag.generation.chat_turns import Conversation
from discorag.generation.views import answer_markdown
from discorag.schema.answer import Answer
from nodes.state import AnswerInput, Json

Messages = Annotated[list[AnyMessage], Field(description="The conversation; its last message asks."), add_messages]
_ROLES = {"human": "user", "ai": "assistant"}
"""LangChain's types of messages -> roles."""


class ChatInput(TypedDict):
    """A conversation that ends with a question."""

    messages: Messages


class ChatState(AnswerInput, total=False):
    """The conversation, the input of the answer graph, and its result."""

    messages: Messages
    answer: Annotated[Json, Field(description="discorag.schema.answer.Answer as JSON: sentences with evidence spans.")]
    ledger: Annotated[list[Json], Field(description="One record per stage of the last question.")]


async def listen(state: ChatState) -> Json:
    """Take the question, its instruction and its history from the conversation. Raises as `Conversation.of`."""
    turns = [(_ROLES.get(m.type, m.type), str(m.text)) for m in state.get("messages", [])]
    talk = Conversation.of(turns)
    history = [message.model_dump() for message in talk.history]
    return {"query": talk.question, "history": history, "instruction": talk.instruction}


async def reply(state: ChatState) -> Json:
    """The answer as a message: Markdown in which all markup is ours, and as JSON next to it."""
    answer: Any = state.get("answer", {})
    text = "".join(answer_markdown(Answer.model_validate(answer)))
    return {"messages": [AIMessage(content=text, response_metadata={"disco_rag": answer})]}
