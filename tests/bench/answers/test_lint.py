"""What the lint says of an answer: invented sentences with and without each fault."""

import pytest

from bench.answers.lint.check import faults, shares
from bench.answers.lint.fit import Line, Rates, halves, rates
from bench.answers.lint.marks import Mark, marks
from bench.answers.lint.said import FAULTS, Answered, Said, answered
from bench.answers.lint.signs import signs
from bench.answers.lint.wholeness import logit, trained
from bench.answers.replies import Reply, Sentence
from discorag.schema.values import Span
from eval.sample import DocSpan


def answer(*texts: str, question: str = "Why does the mill stand still?") -> Answered:
    return Answered(question=question, sentences=tuple(Said(text=text) for text in texts))


def test_an_answer_of_whole_sentences_has_no_fault() -> None:
    good = answer("The mill stands still because the river froze.", "The miller mends its wheel in spring.")
    assert faults(good) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Read [the manual](https://example.org) before you start the mill.",
        "## Mills stand by the river.",
        "2. The wheel is mended in spring.",
        "The miller {vocalsound} mends the wheel.",
        "The **wheel** is mended in spring.",
    ],
)
def test_layout_that_was_left_in_a_sentence_is_markup(text: str) -> None:
    assert faults(answer(text))["markup"] == [0]


def test_amounts_of_money_are_no_formula() -> None:
    assert "markup" not in faults(answer("The wheel cost $1.9 million after a mill of $3.5 million."))
    assert faults(answer("The wheel turns $x^2$ times a day."))["markup"] == [0]


def test_an_opening_that_points_at_what_is_not_told_dangles() -> None:
    told, untold = (Said(text="But the wheel was broken.", follows=follows) for follows in (True, False))
    first = Said(text="The river froze in winter.")
    assert "dangling" not in faults(Answered(question="Why?", sentences=(first, told)))
    assert faults(Answered(question="Why?", sentences=(first, untold)))["dangling"] == [1]


def test_two_connectives_at_once_are_ungrammatical() -> None:
    found = faults(answer("The river froze.", "As a result, so the mill stood still."))
    assert found["connectives"] == [1]
    assert "connectives" not in faults(answer("The river froze.", "As a result, the mill stood still."))


def test_a_heading_is_less_whole_than_a_sentence() -> None:
    assert logit("Repairs of the wheel") > 0 > logit("The miller repaired the wheel in spring.")


def test_what_marks_whole_sentences_is_learned() -> None:
    weights = trained([("Mills of Lanse", True), ("The mill stands in Lanse.", False)] * 20)
    assert len(set(weights.tolist())) > 1


def test_evidence_that_begins_where_the_last_one_ended_follows() -> None:
    def sentence(start: int, end: int, doc: str = "d") -> Sentence:
        return Sentence(text="It turns.", evidence=(DocSpan(doc=doc, span=Span(start=start, end=end)),))

    reply = Reply(id="q", sentences=(sentence(0, 9), sentence(10, 19), sentence(40, 49), sentence(50, 59, "e")))
    assert [said.follows for said in answered("Why?", reply).sentences] == [False, True, False, False]


def test_refusals_are_not_linted_and_shares_are_per_hundred_answers() -> None:
    bad = answer("2. The wheel is mended in spring.")
    found = shares({"a": [bad, answer()], "b": [answer("The mill stands still because the river froze.")] * 3})
    assert (found["answers"], found["markup"], found["any"]) == (4, 25.0, 25.0)


def test_rates_count_answers_not_sentences() -> None:
    marked = [
        (Mark(set="s", question=str(n), document="d", markup=places), answer("2. One is so.", "3. Two is so."))
        for n, places in enumerate([(0, 1), ()])
    ]
    line = Line(weights=(6.0, -3.0), threshold=0.5)
    assert rates(marked, {"markup": line}, "markup") == Rates(marked=1, found=2, both=1)
    assert len(halves(marked)[0]) == 1


def test_there_are_a_hundred_marks_and_every_line_has_as_many_weights_as_its_fault_has_signs() -> None:
    assert len({(mark.set, mark.question) for mark in marks()}) == 100
    assert {fault: len(signs(answer("It is so."), 0)[fault]) for fault in FAULTS} == {
        "fragments": 10,
        "markup": 1,
        "dangling": 7,
        "connectives": 1,
    }
