"""A conversation becomes a question: chats over HTTP and LangGraph's messages are read alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from discorag.models.protocol import Message
from discorag.schema.errors import InputError


@dataclass(frozen=True)
class Conversation:
    """Instructions for the answer, the earlier turns, and the question."""

    instruction: str
    history: tuple[Message, ...]
    question: str

    @classmethod
    def of(cls, turns: Sequence[tuple[str, str]]) -> Self:
        """Read turns (role, text): the last is the question, those of ``system`` and ``developer`` are instructions.

        Turns of other roles than these, ``user`` and ``assistant`` (such as tools) are ignored.

        Raises:
            InputError: The last turn is not the user's, or blank.
        """
        *before, (role, question) = turns or [("", "")]
        if role != "user" or not question.strip():
            raise InputError(
                "The last message is not a question.", hint="End the conversation with a message of the user."
            )
        instruction = "\n\n".join(text for role, text in before if role in ("system", "developer"))
        history = [Message(role=role, content=text) for role, text in before if role == "user" or role == "assistant"]
        return cls(instruction, tuple(history), question)
