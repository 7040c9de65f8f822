"""Conversations become questions."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from discorag.generation.chat_turns import Conversation
from discorag.models.protocol import Message
from discorag.schema.errors import InputError
from nodes.chat import listen

TURNS = [("system", "Be brief."), ("user", "Why?"), ("assistant", "So."), ("developer", "In verse."), ("user", "How?")]


def test_the_last_turn_asks_and_the_others_are_instructions_or_history() -> None:
    talk = Conversation.of([("tool", "42"), *TURNS])
    assert (talk.question, talk.instruction) == ("How?", "Be brief.\n\nIn verse.")
    assert talk.history == (Message(role="user", content="Why?"), Message(role="assistant", content="So."))


@pytest.mark.parametrize("turns", [[], [("assistant", "So.")], [("user", " \n")], [("system", "Be brief.")]])
def test_a_conversation_without_a_question_at_its_end_is_refused(turns: list[tuple[str, str]]) -> None:
    with pytest.raises(InputError, match="not a question"):
        Conversation.of(turns)


async def test_messages_of_langchain_are_read_alike() -> None:
    messages = [SystemMessage("Be brief."), HumanMessage("Why?"), ToolMessage("42", tool_call_id="1"), AIMessage("So.")]
    state: Any = {"messages": [*messages, HumanMessage("How?")]}
    said = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    assert await listen(state) == {"query": "How?", "history": said, "instruction": "Be brief."}
    with pytest.raises(InputError, match="not a question"):
        await listen(state | {"messages": [HumanMessage(" ")]})
