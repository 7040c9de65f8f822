"""What a question asks for: its interrogative, a closed class of words in each language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

QuestionType: TypeAlias = Literal["when", "who", "where", "number", "why", "how", "whether", "what"]
TYPES: Sequence[QuestionType] = get_args(QuestionType)
_ASKS: tuple[tuple[QuestionType, re.Pattern[str]], ...] = (
    ("number", re.compile(r"\bhow (?:many|much|often|long|old|far|tall|large|big|high)\b|多少|几[个年人次]", re.I)),
    ("when", re.compile(r"\b(?:when|(?:what|which) (?:year|date|day|month|time))\b|何时|什么时候|哪一?年", re.I)),
    ("who", re.compile(r"\b(?:who|whose|whom)\b|谁|何人", re.I)),
    ("where", re.compile(r"\bwhere\b|哪里|何处|什么地方", re.I)),
    ("why", re.compile(r"\bwhy\b|为什么|为何", re.I)),
    ("how", re.compile(r"\bhow\b|如何|怎么|怎样", re.I)),
    ("what", re.compile(r"\b(?:what|which)\b|什么|哪", re.I)),
)
_WHETHER = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|will|would|should|may|might|must|has|have|had|shall)\b|吗[？?]?$|是否",
    re.IGNORECASE,
)


def typed(question: str) -> QuestionType:
    """What is asked for; ``what`` where nothing tells.

    >>> typed("How many tides are there?"), typed("Is the tide high?")
    ('number', 'whether')
    """
    question = question.strip()
    if _WHETHER.search(question):
        return "whether"
    found: list[QuestionType] = [kind for kind, asks in _ASKS if asks.search(question)]
    return found[0] if found else "what"
