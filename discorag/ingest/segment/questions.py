"""Questions of plain text that are headings of what is below them, as in a FAQ, and the labels of their answers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from discorag.ingest.segment.layout import Block, Line, Part, block_of, has_no_word, parts_of
from discorag.schema.document import UnitKind
from discorag.schema.values import Span

ASKS = ("?", "？")
LABELS = frozenset({"Q", "A", "Question", "Answer"})
"""Words that stand before a colon like the name of a speaker, but are labels of questions and answers."""
ANSWER_LABEL = re.compile(r"(?:A|Answer)\s?\d*\s?[.:)]\s+(?=\S)")

_MAX_LINES = 4
_MOST = 1000  # more than a number of three digits
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,2})*[.)]\s+(?=\S)")
_MARK = re.compile(rf"{_NUMBER.pattern}|(?:Q|Question)\s?\d*\s?[.:)]\s+(?=\S)")


def find_questions(paragraphs: Sequence[Sequence[Line]]) -> dict[int, int]:
    """Start of each question that heads what is below it -> how many lines it has; none if there is only one.

    Such a question is numbered or labelled ("Q:"), or what is below it is indented. Where most numbered paragraphs ask,
    the others whose number is between theirs are headings too: "4. compress() fails."
    """
    found: dict[int, int] = {}
    for paragraph, following in pairwise([*paragraphs, ()]):
        is_below_title = len(paragraph) > 1 and paragraph[1].indent > paragraph[0].indent
        for at in range(min(1 + is_below_title, len(paragraph))):
            if count := _lines_that_ask(paragraph[at:], following[0] if following else None):
                found[paragraph[at].span.start] = count
                break
    return found | dict(_titles_between(paragraphs, found)) if len(found) > 1 else {}


def _titles_between(paragraphs: Sequence[Sequence[Line]], questions: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Start and lines of short paragraphs whose numbers are between those of questions, if most numbered ones ask."""
    marked = ((p, m[0]) for p in paragraphs if p and (m := _NUMBER.match(p[0].text)))
    numbered = [(p[0].span.start, tuple(map(int, re.findall(r"\d+", mark))), len(p)) for p, mark in marked]
    if 2 * sum(start in questions for start, _, _ in numbered) <= len(numbered):
        return
    before: tuple[int, ...] = ()
    for i, (start, number, count) in enumerate(numbered):
        after = next((n for other, n, _ in numbered[i + 1 :] if other in questions), (_MOST,))
        if start in questions:
            before = number
        elif before and before < number < after and count < _MAX_LINES:
            before = number
            yield start, count


def _lines_that_ask(lines: Sequence[Line], following: Line | None) -> int:
    """How many of the first lines are a question that heads what is below it; an underlined one is a heading anyway."""
    count = next((n for n, line in enumerate(lines[:_MAX_LINES], 1) if line.text.endswith(ASKS)), 0)
    below = lines[count] if count < len(lines) else following
    if not count or below is None or _MARK.match(below.text) or has_no_word(below.text):
        return 0
    is_over_deeper = {line.indent for line in lines[:count]} == {lines[0].indent} and below.indent > lines[0].indent + 1
    return count if is_over_deeper or _MARK.match(lines[0].text) else 0


def question_block(lines: Sequence[Line], rank: int) -> Block:
    """A question as a heading; without a number or label it reaches as far as the text below is indented."""
    span = Span(start=lines[0].span.start, end=lines[-1].span.end)
    part = Part(span, UnitKind.HEADING, lines[0].indent, rank, hangs=not _MARK.match(lines[0].text))
    return block_of([part], heading=" ".join(" ".join(line.text for line in lines).split()))


def answer_block(lines: Sequence[Line], label: str, who: frozenset[str]) -> Block:
    """A paragraph whose label ("A: ", as `ANSWER_LABEL` finds it) is a part of its own."""
    first, start = lines[0], lines[0].span.start
    mark = Part(Span(start=start, end=start + len(label.rstrip())), UnitKind.FURNITURE)
    rest = replace(first, span=Span(start=start + len(label), end=first.span.end), text=first.text.removeprefix(label))
    return block_of([mark, *parts_of([rest, *lines[1:]], who)])
