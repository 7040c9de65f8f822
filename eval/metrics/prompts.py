"""The judge's prompt: the official one from the user's file, or our own wording."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from discorag.schema.errors import MissingPathError
from eval.errors import DataError

_OWN = Path(__file__).with_name("judge.md")
_VARIABLES = ("question", "gold", "answer")
_PLACEHOLDER = re.compile(r"\{(question|gold|answer)\}")


@dataclass(frozen=True)
class JudgePrompt:
    """A prompt with the placeholders ``{question}``, ``{gold}`` and ``{answer}``; other braces mean nothing.

    Args:
        text: The prompt.
        official: Whether it is the user's file. Its values are put in as they are, since its fences are fixed wording;
            in our own wording they stand between tags, with ``&``, ``<`` and ``>`` as character entities.
    """

    text: str
    official: bool

    def render(self, *, question: str, gold: str, answer: str) -> str:
        """The prompt with the values put in, in one pass: a value is never searched for placeholders."""
        values = {"question": question, "gold": gold, "answer": answer}
        return _PLACEHOLDER.sub(lambda m: values[m[1]] if self.official else escape(values[m[1]]), self.text)


def judge_prompt(path: Path | None) -> JudgePrompt:
    """The prompt in the user's file ``path``, or our own wording if there is none.

    Raises:
        MissingPathError: No such file.
        DataError: It is not UTF-8, or lacks a placeholder; the message names it.
    """
    if path is None:
        return JudgePrompt(text=_OWN.read_text(encoding="utf-8").strip(), official=False)
    text = _read(path)
    missing = [f"{{{name}}}" for name in _VARIABLES if f"{{{name}}}" not in text]
    if missing:
        raise DataError(
            f"{path}: the judge prompt lacks {', '.join(missing)}.",
            hint="Put {question}, {gold} and {answer} where the values belong.",
        )
    return JudgePrompt(text=text, official=True)


def _read(path: Path) -> str:
    if not path.is_file():
        raise MissingPathError(f"{path} does not exist.", hint="Name the file of the judge prompt with --judge-prompt.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 at byte {error.start}.", hint="Save the judge prompt as UTF-8."
        ) from error
