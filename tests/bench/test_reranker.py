"""What the learning curve of the reranker counts, and which texts are read for a question."""

import pytest

from bench.reranker import Case, Scores, benchmark_of, cases, figures
from discorag.schema.values import Span
from training.reranker.questions import Question

PASSAGE = "The weir is old. It was built in 1890. Eels live there."


def question(number: int, answered: bool) -> Question:
    answers = (Span(start=PASSAGE.index("1890"), end=PASSAGE.index("1890") + 4),) * answered
    return Question("squad2", f"q{number}", "When was the weir built?", "Weir", PASSAGE, answers, held_out=True)


@pytest.fixture(name="found", scope="module")
def read_cases() -> list[Case]:
    return list(cases(benchmark_of([question(i, i % 2 == 0) for i in range(6)], most=4)))


def test_a_case_marks_the_sentence_that_answers_and_half_of_the_questions_have_none(found: list[Case]) -> None:
    assert [case.answerable for case in found] == [True, True, False, False]
    for case in found:
        marked = [text for text, right in zip(case.sentences, case.right, strict=True) if right]
        assert marked == ["It was built in 1890."] * case.answerable
    assert "Weir: The weir is old. [It was built in 1890.] Eels live there." in found[0].placed


def test_a_model_is_compared_with_the_packaged_one_question_by_question(found: list[Case]) -> None:
    def says(case: Case, right: float) -> Scores:
        order = tuple(right if is_right else 0.5 for is_right in case.right)
        best = {"sentence": 0.0, "passage": 0.0, "answerable": float(case.answerable)}
        return Scores(order, best)

    scores = {"packaged": {c.id: says(c, 0.0) for c in found}, "1000": {c.id: says(c, 1.0) for c in found}}
    known = figures({"clapnq": found, "hotpotqa": found, "squad2": found}, scores)["clapnq"]
    assert known["n"] == known["unanswerable"] == 2
    assert [known["first"][name]["value"] for name in scores] == [0.0, 100.0]
    assert known["first_gain"]["1000"]["value"] == 100.0
    assert (known["auc"]["packaged_passage"]["value"], known["auc"]["1000"]["value"]) == (0.5, 1.0)
    assert known["auc"]["1000_gain"] == {"value": 0.5, "low": 0.5, "high": 0.5}
