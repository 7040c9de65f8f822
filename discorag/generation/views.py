"""What every view of an answer shows, and an answer as Markdown and HTML.

All views (terminal, notebook, page, file) take numbers, states and reasons from `AnswerView`, so that a source has the
same number everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from markdown_it import MarkdownIt

from discorag.schema.answer import NO_ANSWER, NOT_SURE, Answer, AnswerSentence, EvidenceSpan
from discorag.text.escaping import markdown

CLOSEST = "Closest passages:"
DISAGREE = "The sources disagree:"
WARNINGS = "Warnings:"

Shorten = Callable[[str, int], str]
"""Escapes a text for a form of output and shortens it to so many characters."""


@dataclass(frozen=True)
class AnswerView:
    """Numbers, states and reasons of an answer."""

    answer: Answer

    @cached_property
    def sources(self) -> list[EvidenceSpan]:
        """The passages that sentences rest on, each once, in the order of their numbers."""
        return list(dict.fromkeys(e for s in self.answer.sentences for e in s.evidence))

    def numbers(self, sentence: AnswerSentence) -> list[int]:
        """The numbers of the sources of a sentence, from 1."""
        return [self.sources.index(e) + 1 for e in sentence.evidence]

    def marks(self, sentence: AnswerSentence) -> str:
        """The numbers of its sources, and its state unless it is supported: ``[1][not verified]``."""
        state = "" if sentence.supported else f"[{sentence.support}]"
        return "".join(f"[{number}]" for number in self.numbers(sentence)) + state

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """Why sentences are not supported or not verified, each state and reason once."""
        why = ((s.support.capitalize(), s.reason) for s in self.answer.sentences if not s.supported and s.reason)
        return list(dict.fromkeys(why))


def place_of(source: EvidenceSpan, shorten: Shorten) -> str:
    """Title, other copies, page, characters and the beginning of a passage."""
    return f"{position_of(source, shorten)}: “{shorten(source.text, 100)}”"


def position_of(source: EvidenceSpan, shorten: Shorten) -> str:
    """Title, other copies, page and characters of a passage."""
    page = f", p. {source.page}" if source.page else ""
    also = f" (also in {shorten(', '.join(source.also_in), 80)})" if source.also_in else ""
    return f"{shorten(source.title, 50)}{also}{page}, characters {source.span.start}-{source.span.end}"


def answer_markdown(answer: Answer) -> Iterator[str]:
    """The answer as Markdown, in pieces to be joined: each sentence as one, then sources and disagreements.

    What sources and models wrote is escaped, so no markup but ours counts and only our citations are bold.
    """
    view = AnswerView(answer)
    if answer.abstained:
        yield f"{NO_ANSWER} {markdown(answer.abstained)}"
        yield f"\n\n{CLOSEST}\n" if answer.nearest else ""
        yield "".join(f"\n- {place_of(e, markdown)}" for e in answer.nearest)
    if answer.unsure:
        yield f"{NOT_SURE} "
    for sentence in answer.sentences:
        yield f"{markdown(sentence.text)} **{view.marks(sentence)}** "
    if view.sources:
        numbered = (f"{i}. {place_of(e, markdown)}" for i, e in enumerate(view.sources, start=1))
        yield "\n\nSources:\n\n" + "\n".join(numbered)
    for i, (state, reason) in enumerate(view.reasons):
        yield ("\n" if i == 0 else "") + f"\n- {state}: {markdown(reason)}"
    for i, d in enumerate(answer.disagreements):
        sides = f"{place_of(d.a, markdown)} / {place_of(d.b, markdown)}"
        reason = f"{markdown(d.reason)} " if d.reason else ""
        yield (f"\n\n{DISAGREE}\n" if i == 0 else "") + f"\n- {d.relation}: {reason}{sides}"
    if answer.notes:
        yield f"\n\n{WARNINGS}\n\n" + "\n".join(f"- {markdown(note)}" for note in answer.notes)


def answer_html(answer: Answer) -> str:
    """The answer as HTML, for notebooks."""
    return MarkdownIt("commonmark", {"html": False}).render("".join(answer_markdown(answer)))
