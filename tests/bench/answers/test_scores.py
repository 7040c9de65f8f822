"""What the figures of the benchmark of answers mean."""

import pytest

from bench.answers.asked import Sentence, Told
from bench.answers.scores import Outcome, auc, first_is_gold, outcome, refusal, refused_at
from discorag.types.span import Span
from eval.sample import DocSpan, Gold, Sample


def place(start: int, end: int, doc: str = "d") -> DocSpan:
    return DocSpan(doc=doc, span=Span(start=start, end=end))


def told(*sentences: tuple[str, DocSpan], refused: str = "") -> Told:
    return Told(id="q", sentences=tuple(Sentence(text=t, evidence=(e,)) for t, e in sentences), refused=refused)


def sample(*gold: DocSpan, label: str = "evidence", answers: tuple[str, ...] = ("Bergen",)) -> Sample:
    pieces = tuple(Gold(label=label, anywhere=(g,)) for g in gold)
    return Sample(id="q", query="Where?", documents=("d",), gold=pieces, references=answers, short_answers=(answers,))


def test_a_tie_counts_half_in_the_auc() -> None:
    assert auc([0.9, 0.5], [0.5, 0.1]) == pytest.approx(3.5 / 4)


def test_the_threshold_refuses_no_more_of_the_answerable_than_is_allowed() -> None:
    positive = [n / 10 for n in range(10)]
    assert refused_at(positive, [0.05, 0.09, 0.1, 0.5]) == 0.5
    assert refused_at(positive, [0.05, 0.09, 0.1, 0.5], allowed=0.0) == 0.0


@pytest.mark.parametrize(
    ("evidence", "right"),
    [(place(10, 30), True), (place(0, 20), True), (place(0, 19), False), (place(10, 30, doc="e"), False)],
)
def test_a_first_sentence_is_right_with_half_of_its_evidence_in_gold(evidence: DocSpan, right: bool) -> None:
    assert first_is_gold(sample(place(10, 40)), told(("It lies in Oslo.", evidence))) is right


def test_only_the_first_sentence_counts() -> None:
    answer = told(("It rains.", place(50, 60)), ("It lies in Bergen.", place(10, 30)))
    assert not first_is_gold(sample(place(10, 40)), answer)


def test_a_string_is_looked_for_where_no_evidence_is_labelled_or_places_of_strings_are_all_there_is() -> None:
    answer = told(("It lies in bergen, by the sea.", place(50, 80)))
    assert first_is_gold(sample(), answer)
    assert first_is_gold(sample(place(10, 40), label="highlight"), answer)
    assert first_is_gold(sample(place(10, 40)), answer, by_string=True)
    assert not first_is_gold(sample(place(10, 40)), answer)


def test_a_refusal_is_a_miss_everywhere() -> None:
    found = outcome(sample(place(10, 40)), told(refused="Nothing says so."), "hotpotqa/own")
    assert (found.first, found.str_em, found.refused, found.answerable) == (False, 0.0, True, True)


def test_a_question_without_its_gold_documents_cannot_be_answered() -> None:
    assert not outcome(sample(place(10, 40)), told(), "hotpotqa/without").answerable


def test_refusal_tells_right_from_wrong_and_leaves_out_what_the_code_does_not_say() -> None:
    found = refusal(
        [
            Outcome(answerable=True, refused=True, cosine=0.6),
            Outcome(answerable=True, refused=False, cosine=0.7),
            Outcome(answerable=False, refused=True, cosine=0.1),
        ]
    )
    assert (found["refused_right"], found["refused_wrong"], found["cosine_auc"], found["auc"]) == (1.0, 0.5, 1.0, None)
