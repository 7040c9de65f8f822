"""The words of the rules' plans, in English and Chinese: what a step does for the one before it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from discorag.schema.chunk_relations import ChunkRelation as Between
from discorag.schema.rst_relations import Relation as Within
from discorag.text.citations import escaped
from discorag.text.escaping import one_line

_NAME, _GIST = 60, 90  # characters
_ENDS = " .!?。！？…;:,；：，、"
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+")  # before a heading or an item
_BREAKS = (", ", "; ", ": ", " (", " – ", " — ", "，", "；", "：", "（", "——")


class Words(NamedTuple):
    """The same in both languages.

    Example:
        >>> from discorag.generation.wording import CONDITION
        >>> CONDITION.english, CONDITION.chinese
        ('the condition', '条件')
    """

    english: str
    chinese: str


CONDITION = Words("the condition", "条件")
BACKGROUND = Words("the background", "背景")
COMPARISON = Words("the comparison", "比较")
DETAILS = Words("the details", "细节")
EXAMPLE = Words("an example", "例子")
JUDGED = Words("how it is judged", "评价")
LATER = Words("what comes next", "随后")
EARLIER = Words("what comes before", "此前")
MEANING = Words("what is meant", "含义")
OUTCOME = Words("what follows from it", "结果")
OTHERWISE = Words("the contrast", "对照")
CONCEDED = Words("what is conceded", "让步")
REASON = Words("the reason", "原因")
RESTATED = Words("the same in other words", "换言之")
PURPOSE = Words("what it is for", "目的")
SOURCE = Words("who says so", "出处")
SUPPORT = Words("what supports it", "佐证")
ADDITION = Words("what adds to it", "补充")

WITHIN: dict[Within, Words] = {
    Within.ATTRIBUTION: SOURCE,
    Within.BACKGROUND: BACKGROUND,
    Within.CIRCUMSTANCE: BACKGROUND,
    Within.CAUSE: REASON,
    Within.EXPLANATION: REASON,
    Within.COMPARISON: COMPARISON,
    Within.CONCESSION: CONCEDED,
    Within.CONDITION: CONDITION,
    Within.CONTRAST: OTHERWISE,
    Within.ANTITHESIS: OTHERWISE,
    Within.DEFINITION: MEANING,
    Within.CLASSIFICATION: MEANING,
    Within.ELABORATION: DETAILS,
    Within.EVALUATION: JUDGED,
    Within.INTERPRETATION: JUDGED,
    Within.EVIDENCE: SUPPORT,
    Within.EXAMPLE: EXAMPLE,
    Within.PURPOSE: PURPOSE,
    Within.RESULT: OUTCOME,
    Within.CONSEQUENCE: OUTCOME,
    Within.SEQUENCE: LATER,
    Within.TEMPORAL: LATER,
    Within.SUMMARY: RESTATED,
    Within.RESTATEMENT: RESTATED,
}
"""What a satellite is to its nucleus, or the second of two nuclei to the first."""
TO_TOLD: dict[Between, Words] = {
    Between.SUPPORTS: SUPPORT,
    Between.ELABORATES: DETAILS,
    Between.SPECIFIES: DETAILS,
    Between.SUPPLEMENTS: ADDITION,
    Between.EXEMPLIFIES: EXAMPLE,
    Between.CAUSES: REASON,
    Between.JUSTIFIES: REASON,
    Between.MOTIVATES: REASON,
    Between.RESULTS_FROM: OUTCOME,
    Between.PRECEDES: EARLIER,
    Between.FOLLOWS: LATER,
    Between.BACKGROUND_FOR: BACKGROUND,
    Between.COMPARES_WITH: COMPARISON,
}
"""What a chunk is to the one told before it, by the relation that leads from it to that one."""
FROM_TOLD: dict[Between, Words] = {
    Between.CAUSES: OUTCOME,
    Between.RESULTS_FROM: REASON,
    Between.PRECEDES: LATER,
    Between.FOLLOWS: EARLIER,
    Between.COMPARES_WITH: COMPARISON,
}
"""The same by the relation that leads to it."""


@dataclass(frozen=True)
class Wording:
    """How plans of one language are written. A ``name`` may be empty, and then is not said.

    Example:
        >>> from discorag.generation.wording import CONDITION, Wording
        >>> said = Wording(chinese=False)
        >>> trial = said.start(said.name("The trial"), said.gist("Flu was rarer.", "[1.2]"))
        >>> print(said.sentence([trial, said.then(CONDITION, "", said.gist("The dose was small.", "[1.3]"))]))
        Start with “The trial”: Flu was rarer [1.2]; then the condition: The dose was small [1.3].
    """

    chinese: bool

    def name(self, title: str) -> str:
        """A title in quotation marks, shortened; empty for an empty one."""
        short = shortened(title, _NAME, at_clause="")
        if not short:
            return ""
        return f"《{escaped(short)}》" if self.chinese else f"“{escaped(short)}”"

    def gist(self, sentence: str, citation: str) -> str:
        """What a sentence says, shortened, with its citation."""
        return f"{escaped(shortened(sentence, _GIST))} {citation}"

    def start(self, name: str, gist: str) -> str:
        """The first step."""
        return f"先说{name}：{gist}" if self.chinese else f"{' '.join(filter(None, ('Start with', name)))}: {gist}"

    def against(self, name: str, gist: str, *, contradicts: bool) -> str:
        """What speaks against the step before, or holds elsewhere."""
        if self.chinese:
            return f"对照{name}的{'相反说法' if contradicts else '另一种情况'}：{gist}"
        lead, what = ("against", "which contradicts it") if contradicts else ("beside", "where it is otherwise")
        return f"set {lead} it {name}, {what}: {gist}" if name else f"set {lead} it, {what}: {gist}"

    def then(self, words: Words, name: str, gist: str) -> str:
        """What belongs to the step before, and what it is to it."""
        if self.chinese:
            return f"再说{words.chinese}{f'（{name}）' if name else ''}：{gist}"
        return f"then {words.english}{f', in {name}' if name else ''}: {gist}"

    def likewise(self, name: str, gist: str, *, turn: int) -> str:
        """One more of the same; ``turn`` counts, so that no two in a row begin alike."""
        if self.chinese:
            return f"{('同样', '还有')[turn % 2]}{name}：{gist}"
        return f"{' '.join(filter(None, (('likewise', 'and')[turn % 2], name)))}: {gist}"

    def next(self, words: Words | None, name: str, gist: str, *, turn: int) -> str:
        """A further main point; ``turn`` as for `likewise`."""
        if self.chinese:
            what = f"{words.chinese}（{name}）" if words and name else words.chinese if words else name
            return f"{('然后', '接着', '另外')[turn % 3]}说{what}：{gist}"
        what = " in ".join(filter(None, (words.english + "," * bool(name) if words else "", name)))
        opener = ("Then", "Next", "After that")[turn % 3]
        return f"{opener}{',' if what and opener != 'Then' else ''}{f' {what}' if what else ''}: {gist}"

    def sentence(self, clauses: list[str]) -> str:
        """Clauses that belong together."""
        return "；".join(clauses) + "。" if self.chinese else "; ".join(clauses) + "."

    @property
    def between(self) -> str:
        """What stands between two sentences."""
        return "" if self.chinese else " "


def shortened(text: str, length: int, *, at_clause: str = "…") -> str:
    """The head of a text on one line, without its number: whole if it fits, else cut after a clause.

    Args:
        text: Of a source.
        length: Characters at most, but for what stands for the rest.
        at_clause: What stands for the rest; an ellipsis where only a word could be cut after.
    """
    line = _NUMBER.sub("", one_line(text, None)).strip(_ENDS)
    if len(line) <= length:
        return line
    head = line[:length]
    clause, word = max(head.rfind(mark) for mark in _BREAKS), head.rfind(" ")
    if clause > length // 2:
        return head[:clause].rstrip(_ENDS) + at_clause
    return head[: word if word > length // 2 else length].rstrip(_ENDS) + "…"
