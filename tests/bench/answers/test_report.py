"""Figures, gains and the file of the benchmark of answers."""

from pathlib import Path

from bench.answers import report
from bench.answers.__main__ import together
from bench.answers.scores import Outcome


def first(*right: bool) -> dict[str, Outcome]:
    return {f"q{n}": Outcome(answerable=True, refused=False, first=r) for n, r in enumerate(right)}


def result(package: str, *right: bool) -> report.Result:
    return report.Result(package=package, figures={"clapnq": {"auc": 0.5}}, questions={"hotpotqa/own": first(*right)})


def test_gains_are_paired_over_the_questions_that_both_have() -> None:
    gained = report.gains(result("b", True, True, False), result("a", False, True))["first_sentence.hotpotqa"]
    assert (gained.n, gained.gain) == (2, 50.0)


def test_a_key_is_left_out_until_all_its_runs_are_there() -> None:
    runs = {name: first(True, False, False, False) for name in report.FIRST}
    assert report.figures(runs) == {"first_sentence": dict.fromkeys(("fairytaleqa", "hotpotqa", "qasper", "nq"), 25.0)}
    assert report.figures({"fairytaleqa/own": first(True)}) == {}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = result("a", True, False)
    report.write(tmp_path / "answers.json", written)
    assert report.read(tmp_path / "answers.json") == written


def test_figures_of_other_code_are_not_mixed_in() -> None:
    old, new = result("a", True), report.Result(package="b", figures={}, questions={})
    assert together(old, new) == new
    assert together(old.model_copy(update={"package": "b"}), new).figures == old.figures


def test_added_processor_time_is_what_is_more_than_before() -> None:
    now, before = (
        report.Result(package=p, figures={"cpu_floors": {"floors": f}}, questions={})
        for p, f in (("b", 3.0), ("a", 2.75))
    )
    assert report.against(now, before).figures["cpu_floors"]["added"] == 0.25
