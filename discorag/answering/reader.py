"""The model that reads passages and writes answers, with what every one of its calls needs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from discorag.answering.passages import count_tokens
from discorag.generation.prompted.prose import MOST_ANSWER
from discorag.models.protocol import LanguageModel, Message, Request, TokenCounter
from discorag.schema.answer import AnswerInputs
from discorag.text.fences import fenced
from prompts import Prompt, load

T = TypeVar("T")
StatementPart = Literal["relations", "order"]
"""A part of a reply with statements that can be left out: how they relate, and the plan."""

MOST_STATEMENT_TOKENS = 4096
_SPARE = 64
"""Tokens for roles and separators of the turns, which a server adds."""


@dataclass(frozen=True, kw_only=True)
class ReaderModel:
    """A language model and how it is asked.

    Args:
        model: The model.
        counter: Estimates the model's tokens.
        folder: A user's own prompt files.
        temperature: The temperature of every call.
        beam_width: The beam width of the calls that write prose; 1: no beam search.
        answer_tokens: The most tokens of an answer; None: `MOST_ANSWER`.
        structure: What the model is asked for next to statements.
    """

    model: LanguageModel
    counter: TokenCounter
    folder: Path | None = None
    temperature: float = 0.0
    beam_width: int = 1
    answer_tokens: int | None = None
    structure: tuple[StatementPart, ...] = ("relations", "order")

    def prompt(self, name: str) -> Prompt:
        """A prompt file, the user's own if there is one."""
        return load(name, self.folder)

    async def answer_limit(self) -> int:
        """The most tokens of an answer: at most a quarter of the context."""
        return min(self.answer_tokens or MOST_ANSWER, await self.model.context_tokens() // 4)

    async def statement_limit(self) -> int:
        """The most tokens of a reply with statements: at most a quarter of the context."""
        return min(MOST_STATEMENT_TOKENS, await self.model.context_tokens() // 4)

    async def room(self, frame: str, limit: int) -> int:
        """How many tokens of passages fit next to a prompt without them and a reply of ``limit`` tokens."""
        return await self.model.context_tokens() - limit - self.count([frame])[0] - _SPARE

    def count(self, texts: list[str]) -> list[int]:
        """An estimate of the model's tokens of each text, rather too high."""
        return count_tokens(self.counter, texts) if texts else []

    def instruction(self, inputs: AnswerInputs) -> str:
        """How the user wants the answer, as a part of a prompt; "" without a wish."""
        if not inputs.instruction:
            return ""
        return self.prompt("instruction").render(instruction=fenced("wish", inputs.instruction)) + "\n"

    def request(self, stage: str, prompt: str, parse: Callable[[str], T], limit: int) -> Request[T]:
        """One call with one turn."""
        turn = Message(role="user", content=prompt)
        return Request(stage=stage, messages=(turn,), parse=parse, max_tokens=limit, temperature=self.temperature)


def question_block(inputs: AnswerInputs) -> str:
    """The question between tags that it does not have."""
    return fenced("question", inputs.query)
