"""The baselines' parts that need no model."""

import numpy as np

from bench.answers.baselines import Bm25, best_of_each, fused, heading, passage_places, sentence_places, top
from discorag.schema.values import Span
from eval.sample import DocSpan, SourceDocument

DOCUMENT = SourceDocument(
    id="d", title="Mills", text="# Mills\n\nThe mill stands still. The river froze. The miller waits for the spring."
)


def test_rare_words_count_more_and_long_texts_less() -> None:
    bm25 = Bm25(["the mill stands", "the river froze", "the mill stands by the river and waits for spring"])
    assert top(bm25.scores("the river"))[0] == 1
    assert top(bm25.scores("mills")) == [0, 2, 1]
    assert not bm25.scores("unknown words").any()


def test_the_heading_is_read_as_a_sentence() -> None:
    assert heading(DOCUMENT) == "Mills. "
    assert heading(SourceDocument(id="e", title="Rivers", text="A river is long.")) == ""


def test_headings_are_no_candidates() -> None:
    places = sentence_places(DOCUMENT)
    assert [p.span.of(DOCUMENT.text) for p in places] == [
        "The mill stands still.",
        "The river froze.",
        "The miller waits for the spring.",
    ]


def test_passages_join_sentences_of_one_document() -> None:
    other = SourceDocument(id="e", title="Rivers", text="A river is long.")
    places = [*sentence_places(DOCUMENT), *sentence_places(other)]
    found = passage_places(places, {"d": DOCUMENT, "e": other})
    assert [(p.doc, p.span.start, p.span.end) for p in found] == [("d", 9, len(DOCUMENT.text)), ("e", 0, 16)]


def test_what_both_rankings_place_high_comes_first() -> None:
    assert fused([np.array([3.0, 2.0, 1.0], np.float32), np.array([2.0, 3.0, 1.0], np.float32)])[2] == 2
    assert fused([np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0], np.float32)]) == [1, 0]


def test_the_best_sentence_of_each_document() -> None:
    places = [DocSpan(doc=doc, span=Span(start=n, end=n + 1)) for n, doc in enumerate("aab")]
    found = best_of_each(np.array([1.0, 2.0, 0.5], np.float32), places)
    assert [(p.doc, p.span.start) for p in found] == [("a", 1), ("b", 2)]
