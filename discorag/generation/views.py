"""What every view of an answer shows, and an answer as Markdown and HTML.

The terminal, notebooks, chat, MCP and files show the Markdown; the page takes numbers, states and reasons from
`AnswerView` too, so that a source has the same number everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from markdown_it import MarkdownIt

from discorag.schema.answer import NO_ANSWER, NOT_SURE, Answer, AnswerSentence, EvidenceSpan
from discorag.schema.statements import StatementRelationKind
from discorag.text.escaping import markdown, one_line

CLOSEST = "Closest passages:"
DISAGREE = "The sources disagree:"
NAMESAKES = "Different things of the same name:"
WARNINGS = "Warnings:"
_BEGINNING = 80
"""Most characters of a sentence that a note on it repeats."""
_GAP = 3
"""Most characters between a source and the words that it is read with."""
_FOLLOWED = " (the answer follows this one)"


@dataclass(frozen=True)
class AnswerView:
    """Numbers, states and reasons of an answer."""

    answer: Answer

    @cached_property
    def sources(self) -> list[EvidenceSpan]:
        """The passages that sentences rest on, each once, in the order of their numbers; headings have no number."""
        return list(dict.fromkeys(e for s in self.answer.sentences for e in s.evidence if not e.is_context))

    def numbers(self, sentence: AnswerSentence) -> list[int]:
        """The numbers of the sources of a sentence, from 1."""
        return [self.sources.index(e) + 1 for e in sentence.evidence if not e.is_context]

    def marks(self, sentence: AnswerSentence) -> list[tuple[int, list[int]]]:
        """The numbers of its sources by place: after how many characters of the sentence they stand, in order.

        A source stands wherever its chunk is cited; at the end if only marks follow, or if its chunk is not cited.
        """
        text, numbers = sentence.text, self.numbers(sentence)
        marks, left = dict[int, list[int]](), dict.fromkeys(numbers)
        for citation in sentence.citations:
            at = citation.at if any(map(str.isalnum, text[citation.at :])) else len(text)
            own = [n for n in numbers if self.sources[n - 1].chunk_id == citation.chunk_id]
            if own:
                marks[at] = list(dict.fromkeys([*marks.get(at, ()), *own]))
            left = {n: None for n in left if n not in own}
        if left:
            marks[len(text)] = list(dict.fromkeys([*marks.get(len(text), ()), *left]))
        return sorted(marks.items())

    def lead(self, source: EvidenceSpan) -> str:
        """The words right before a source that it is read with, if it needs them."""
        all_evidence = (e for s in self.answer.sentences for e in s.evidence if e.is_context and source in s.evidence)
        near = (
            e for e in all_evidence if e.chunk_id == source.chunk_id and 0 <= source.span.start - e.span.end <= _GAP
        )
        return next((e.text for e in near), "")

    def is_quoted(self, source: EvidenceSpan) -> bool:
        """Whether a sentence of the answer has the words of its source."""
        text = one_line(source.text, None)
        return any(text in one_line(s.text, None) for s in self.answer.sentences if source in s.evidence)

    def side(self, source: EvidenceSpan) -> str:
        """One side of a disagreement, by its number if it is a source of the answer."""
        place = (source.doc_id, source.span)
        number = next((n for n, s in enumerate(self.sources, start=1) if (s.doc_id, s.span) == place), None)
        return f"{f'source {number}' if number else _position(source)}: {_quote(source)}"


def answer_markdown(answer: Answer) -> Iterator[str]:
    """The answer as Markdown, in pieces to be joined: each sentence as one, then sources, disagreements and namesakes.

    What sources and models wrote is escaped, so no markup but ours counts and only our citations are bold.
    """
    view = AnswerView(answer)
    if answer.abstained:
        yield f"{NO_ANSWER} {markdown(answer.abstained)}"
        yield f"\n\n{CLOSEST}\n" if answer.nearest else ""
        yield "".join(f"\n- {_position(e)}: {_quote(e)}" for e in answer.nearest)
    if answer.unsure:
        yield f"{NOT_SURE} "
    for sentence in answer.sentences:
        yield f"{_marked(view, sentence)} "
    if answer.checked:
        yield f"\n\n{answer.checked}"
    if view.sources:
        places = (_source(view, source) for source in view.sources)
        yield "\n\nSources:\n\n" + "\n".join(f"{i}. {place}" for i, place in enumerate(places, start=1))
    for i, problem in enumerate(s for s in answer.problems if s.reason):
        head = f"{problem.support.capitalize()} “{markdown(problem.text, _BEGINNING)}”"
        yield ("\n" if i == 0 else "") + f"\n- {head}: {markdown(problem.reason)}"
    yield from _disagreements(view)
    yield from _namesakes(view)
    if answer.notes:
        yield f"\n\n{WARNINGS}\n\n" + "\n".join(f"- {markdown(note)}" for note in answer.notes)


def _marked(view: AnswerView, sentence: AnswerSentence) -> str:
    """A sentence with the numbers of its sources where they are cited, and its state if it is a problem."""
    shown, start = "", 0
    for at, numbers in view.marks(sentence):
        shown += f"{_piece(sentence.text[start:at])} **{''.join(f'[{n}]' for n in numbers)}**"
        start = at
    shown += _piece(sentence.text[start:])
    state = f"[{sentence.support}]" if sentence.is_problem else ""
    if shown.endswith("**") and state:
        return f"{shown[:-2]}{state}**"
    return f"{shown} **{state}**" if state else shown


def _piece(text: str) -> str:
    """A part of a sentence, with a space before it if it begins with one."""
    return f"{' ' * text[:1].isspace()}{markdown(text)}"


def _disagreements(view: AnswerView) -> Iterator[str]:
    for i, d in enumerate(view.answer.disagreements):
        relation, reason = relation_name(d.relation).capitalize(), markdown(d.reason)
        head = f"{relation}{'.' if reason.endswith('.') or not reason else ':'} {reason}".rstrip()
        sides = [f"{view.side(side)}{_FOLLOWED * (d.favoured == name)}" for name, side in (("a", d.a), ("b", d.b))]
        yield (f"\n\n{DISAGREE}\n" if i == 0 else "") + "\n  - ".join([f"\n- {head}", *sides])


def _namesakes(view: AnswerView) -> Iterator[str]:
    """The things of one name, each with its namesakes below it."""
    firsts = dict.fromkeys(pair.a for pair in view.answer.namesakes)
    for i, first in enumerate(firsts):
        others = [pair for pair in view.answer.namesakes if pair.a == first]
        named = (f"{f'{markdown(n.reason)}: ' if n.reason else ''}{view.side(n.b)}" for n in others)
        yield (f"\n\n{NAMESAKES}\n" if i == 0 else "") + "\n  - ".join([f"\n- {view.side(first)}", *named])


def relation_name(relation: str) -> str:
    """A relation in words, as the page has it too: BACKGROUND_FOR as "background for"."""
    if relation == StatementRelationKind.ANOTHER:
        return "is about a different thing than"
    return relation.lower().replace("_", " ")


def _position(source: EvidenceSpan) -> str:
    """Title and other copies of a passage, and its page, or its characters where the document has no pages."""
    place = f"p. {source.page}" if source.page else f"characters {source.span.start}-{source.span.end}"
    also = f" (also in {markdown(', '.join(source.also_in), 80)})" if source.also_in else ""
    return f"{markdown(source.title, 50)}{also}, {place}"


def _source(view: AnswerView, source: EvidenceSpan) -> str:
    """Where a source is, and its words if the answer does not have them, with those that it is read with."""
    if view.is_quoted(source):
        return _position(source)
    lead = view.lead(source)
    return f"{_position(source)}: {_quote(source)}{f' (after “{markdown(lead, 100)}”)' if lead else ''}"


def _quote(source: EvidenceSpan) -> str:
    """The beginning of a passage."""
    return f"“{markdown(source.text, 100)}”"


def answer_html(answer: Answer) -> str:
    """The answer as HTML, for notebooks and files."""
    return MarkdownIt("commonmark", {"html": False}).render("".join(answer_markdown(answer)))
