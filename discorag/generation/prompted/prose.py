"""The prose of a language model: how it is asked for, and what is taken out of it.

A weak model may copy marks of a tree, fences or escapes from its prompt. Those that no source contains are ours and are
removed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from discorag.discourse.parse.inline import unescape
from discorag.generation.narrowing import GAP
from discorag.models.protocol import Reply
from discorag.schema.answer import Outcome
from discorag.schema.discourse import BY_CODE
from discorag.schema.errors import OutputTruncatedError
from discorag.schema.ledger import Failure
from discorag.text.citation_forms import cited_in_brackets
from discorag.text.citations import references, without_references
from discorag.text.replies import prose_in
from discorag.text.sentences import sentence_spans

T = TypeVar("T")

PLAN_STEP = 48
"""Tokens of a plan for each passage; a plan of the local engine has about 180 tokens for ten passages."""
ANSWER_PART = 72
"""Tokens of an answer for each passage: a sentence or two."""
MOST_ANSWER = 1024
SPARE = 128
"""Tokens for white space and for what a model writes before it starts."""


def plan_tokens(k: int) -> int:
    """Output limit of a plan over ``k`` passages."""
    return SPARE + min(PLAN_STEP * k, MOST_ANSWER)


_CODES = "|".join(BY_CODE)
_WHOLE = rf"\{{\s*\d{{1,5}}\s*[<>=]\s*(?:{_CODES})\s*\}}"
_MARK = re.compile(rf"(?<=\s){_WHOLE}[ \t]*|{_WHOLE}")
_BROKEN_MARK = re.compile(rf"\{{\s*\d{{1,5}}\s*[<>=]|[<>=]\s*(?:{_CODES})\s*\}}")
_FENCE = re.compile(r"</?(?:chunk|title|query|plan|question|instruction)\b[^<>\n]*>|^```.*$", re.MULTILINE)
_ENTITY = re.compile(r"&(?:amp|lt|gt);")


def strip_marks(text: str, passages: Sequence[str]) -> str:
    """``text`` without marks, fences, gaps and escapes that are not the passages' own."""
    held = "\n".join(passages)
    text = _ENTITY.sub(lambda m: m[0] if m[0] in held else unescape(m[0]), text)
    for ours in (_FENCE, _MARK):
        text = ours.sub(lambda m: m[0] if m[0].rstrip() in held else "", text)
    if GAP not in held:
        text = text.replace(GAP, "…")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def said_in(text: str, passages: Sequence[str]) -> str:
    """The prose that a model wrote, without what is ours, its citations in the form that we read.

    Raises:
        ValueError: It is JSON without prose.
    """
    return cited_in_brackets(strip_marks(prose_in(text), passages), passages)


def marks_left(text: str, passages: Sequence[str]) -> bool:
    """Whether ``text`` has marks of ours, whole or broken."""
    return any(not any(m[0] in p for p in passages) for m in _BROKEN_MARK.finditer(text))


_SOURCES = r"(?:passages?|documents?|sources?|texts?|chunks?|evidence)"
_SAYS = r"(?:\w+ )?(?:answer|address|say|speak|mention|contain|provide|include)"
_DECLINES = re.compile(
    rf"\W*(?:(?:(?:the|these|given|provided|retrieved) )*{_SOURCES} (?:(?:do|does) not|don't|doesn't|cannot|can't)"
    rf"|(?:no|none of (?:the|these)) (?:\w+ )?{_SOURCES}) {_SAYS}",
    re.IGNORECASE,
)

_BUT = re.compile(r"[,;:] (?:but|however|although|though|only)\b", re.IGNORECASE)
_ABOUT_PASSAGES = re.compile(
    rf"\W*(?:(?:(?:the|these|given|provided|retrieved) )*{_SOURCES}|they|none|instead|i|please|therefore)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says more of what the passages lack or hold."""


def declined(text: str) -> str:
    """Why a model says that the passages do not answer the question; "" where it answers all or a part of it.

    >>> declined("The passages do not answer the question; none speaks of chess [1].")
    'The passages do not answer the question; none speaks of chess.'
    >>> declined("None of the passages says anything about chess.")
    'None of the passages says anything about chess.'
    >>> declined("The passages do not answer for whom. It lowered the risk [1].")
    ''
    >>> declined("The passages do not say who drives it. The van may weigh 3.5 t.")
    ''
    """
    first, *others = [span.of(text) for span in sentence_spans(text)] or [""]
    cites = bool(references(text))
    if not _DECLINES.match(first) or (cites and _BUT.search(first)):
        return ""
    if any(references(sentence) or not (cites or _ABOUT_PASSAGES.match(sentence)) for sentence in others):
        return ""
    return without_references(text, chunks=10_000).strip()


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a language model is asked: temperature, beam width (1: none), and the answer's limit in tokens, if any."""

    temperature: float = 0.0
    beam_width: int = 1
    answer_tokens: int | None = None

    def for_answer(self, k: int) -> int:
        """The limit of an answer from ``k`` passages."""
        return self.answer_tokens or min(2 * SPARE + ANSWER_PART * k, MOST_ANSWER)


def outcome_of(stage: str, reply: Reply[T]) -> Outcome[T]:
    """The outcome of a reply; one that was cut off has a failure."""
    cut = OutputTruncatedError("The output was cut off at its limit.")
    failures = (Failure.of(stage, cut, fallback="the part before the cut"),) if reply.cut else ()
    return Outcome(
        value=reply.value, text=reply.text, usage=reply.usage, prompt_hash=reply.prompt_hash, failures=failures
    )
