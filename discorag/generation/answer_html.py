"""An answer as a notebook shows it: sentences with their numbers, the sources below, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from discorag.generation.answer_view import AnswerView
from discorag.schema.answer import NOT_SURE, Answer, AnswerSentence, Disagreement, EvidenceSpan, Support


def answer_html(answer: Answer) -> str:
    """The answer; or that the documents do not say, with the nearest passages."""
    if answer.abstained:
        return _paragraph(answer.text) + _paragraph(answer.abstained) + _list(map(_source, answer.nearest), "ul")
    view = AnswerView(answer)
    sentences = " ".join(_sentence(s, view) for s in answer.sentences)
    between = _list(map(_between, answer.disagreements), "ul")
    heading = "<p><b>The sources disagree</b></p>" if answer.disagreements else ""
    notes = "".join(_paragraph(note) for note in answer.notes)
    unsure = _paragraph(NOT_SURE) if answer.unsure else ""
    return f"{unsure}<p>{sentences}</p>{notes}{_list(map(_source, view.sources), 'ol')}{heading}{between}"


def _sentence(sentence: AnswerSentence, view: AnswerView) -> str:
    wavy = ' style="text-decoration:underline wavy"' if sentence.support is Support.NOT_SUPPORTED else ""
    state = "" if sentence.supported else f" <small>[{sentence.support}]</small>"
    numbers = ", ".join(map(str, view.numbers(sentence)))
    cited = f" <sup>[{numbers}]</sup>" if numbers else ""
    return f'<span{wavy} title="{escape(sentence.reason)}">{_said(sentence)}</span>{cited}{state}'


def _said(sentence: AnswerSentence) -> str:
    return f"<bdi>{escape(sentence.text)}</bdi>"


def _source(source: EvidenceSpan) -> str:
    page = f", page {source.page}" if source.page else ""
    place = f"{escape(source.title)}{page}, characters {source.span.start}-{source.span.end}"
    return f"{place}: <q><bdi>{escape(' '.join(source.text.split()))}</bdi></q>"


def _between(pair: Disagreement) -> str:
    sure = "" if pair.confidence is None else f" ({pair.confidence:.0%})"
    relation = pair.relation.value.replace("_", " ").lower()
    return f"{_source(pair.a)}<br><i>{relation}{sure}</i><br>{_source(pair.b)}"


def _list(items: Iterator[str], kind: str) -> str:
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<{kind}>{rows}</{kind}>" if rows else ""


def _paragraph(text: str) -> str:
    return f"<p><bdi>{escape(text)}</bdi></p>"
