"""The figures of each key, by hand-made outcomes."""

import pytest

from bench.answers import figures as made
from bench.answers.scores import Outcome


def ranked(product: bool, reranker: bool) -> Outcome:
    first = {"product": product, "product_refusing": False, "bm25": False, "cosine": False, "reranker": reranker}
    return Outcome(answerable=True, refused=False, first=first)


def judged(answerable: bool, refused: bool, probability: float | None, bm25: float) -> Outcome:
    return Outcome(answerable=answerable, refused=refused, probability=probability, scores={"bm25": bm25})


def test_first_sentences_are_percentages_with_paired_differences() -> None:
    runs = {"nq/own": {"a": ranked(True, True), "b": ranked(True, False), "c": Outcome(answerable=False, refused=True)}}
    found = made.ranking(["nq/own"], "first", 100, 2, runs)["nq"]
    assert (found["n"], found["product"]["value"], found["reranker"]["value"]) == (2, 100.0, 50.0)
    assert found["product_less_reranker"]["value"] == 50.0
    assert found["product_refusing"]["value"] == 0.0


def test_refusal_is_measured_by_decision_and_by_threshold_with_simple_scores_on_the_same_questions() -> None:
    outcomes = [
        judged(True, False, 0.9, 1.0),
        judged(True, True, 0.8, 3.0),
        judged(False, True, 0.1, 2.0),
        judged(False, False, 0.2, 0.0),
    ]
    found = made.refusal(outcomes, (0.10, 0.05))
    assert (found["refused_right"]["value"], found["refused_wrong"]["value"], found["auc"]["value"]) == (0.5, 0.5, 1.0)
    assert found["refused_right_at_05"]["value"] == 1.0
    assert found["simple"]["bm25"]["auc"]["value"] == 0.75
    assert found["simple"]["bm25"]["product_less_it_auc"]["value"] == 0.25


def test_a_product_without_probability_has_no_auc() -> None:
    found = made.refusal([judged(True, False, None, 1.0), judged(False, True, None, 0.0)], (0.1,))
    assert found["auc"] is None
    assert found["simple"]["bm25"]["auc"]["value"] == 1.0
    assert "product_less_it_auc" not in found["simple"]["bm25"]


def test_a_key_is_left_out_until_all_its_runs_are_complete() -> None:
    assert made.figures({"clapnq/own": {}}) == {}
    found = made.figures({"clapnq/own": {"a": judged(True, False, 0.9, 1.0), "b": judged(False, True, 0.1, 0.0)}})
    assert found.keys() == {"clapnq", "spans_exact"}


def test_word_f1_is_pooled_and_rows_without_gold_count_what_was_marked() -> None:
    outcomes = [
        Outcome(answerable=True, refused=False, words={"product": (3, 1, 3), "reranker": (0, 0, 6)}),
        Outcome(answerable=False, refused=False, words={"product": (0, 2, 0), "reranker": (0, 4, 0)}),
    ]
    found = made.word_f1(outcomes)
    assert (found["product"]["precision"], found["product"]["recall"]) == (0.5, 0.5)
    assert found["product_less_reranker"]["value"] == pytest.approx(0.5)


def test_a_conflict_without_a_mark_is_false() -> None:
    runs = {name: {"q": Outcome(answerable=True, refused=False)} for name in made.KEYS["false_reports"]}
    runs["nq/own"] = {
        "true": Outcome(answerable=True, refused=False, conflicts=("t",)),
        "unmarked": Outcome(answerable=True, refused=False, conflicts=("u",)),
    }
    found = made.false_reports(runs, {"t": True})
    assert (found["answers"], found["false"], found["unmarked"]) == (5, 1, 1)
    assert found["false_per_100_answers"]["value"] == 20.0


def test_padding_is_null_without_relevance() -> None:
    runs = {name: {"q": Outcome(answerable=True, refused=False, sentences=3)} for name in made.KEYS["lint"]}
    assert made.padding(runs) is None
    runs["nq/own"] = {"q": Outcome(answerable=True, refused=False, sentences=4, padding=1)}
    assert made.padding(runs) == {"answers": 1, "sentences": 4, "low": 1, "percent": 25.0}
