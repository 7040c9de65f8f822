"""The report of runs and its statistics: differences, losses, cost, strata, MAUVE, and what is missing."""

from collections.abc import Sequence
from math import atan, pi, sqrt
from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure, Ledger, StageRecord
from eval.errors import DataError, MetricUnavailableError
from eval.reporting import mauve
from eval.reporting.mauve import mauve_of
from eval.reporting.report import report
from eval.reporting.stats import Interval, Paired, compare
from eval.running.record import Record
from eval.sample import Sample
from tests.eval.runs import write
from tests.training.tiny import tiny_model


def record(sample: str, system: str, em: float, **fields: Any) -> Record:
    return Record.model_validate({"sample": sample, "system": system, "scores": {"em": em}, **fields})


def better(folder: Path, **changes: Any) -> Path:
    """Four questions: ``plain`` 10, 20, 30, 40; ``disco`` each 5 more; ``noise`` 10 more or 10 less."""
    records = [record(f"q{i}", "plain", 10.0 * i) for i in range(1, 5)]
    records += [record(f"q{i}", "disco", 10.0 * i + 5) for i in range(1, 5)]
    records += [record(f"q{i}", "noise", 10.0 * i + (10 if i % 2 else -10)) for i in range(1, 5)]
    return write(folder, records, **changes)


def test_means_and_paired_differences_stand_in_the_table_and_only_sure_ones_are_bold(tmp_path: Path) -> None:
    lines = report([better(tmp_path / "run")]).splitlines()
    # plain: 100 / 4 = 25; disco: 30, every difference 5, so the interval is 5 to 5.
    assert "| plain | 25.0 |" in lines
    assert "| disco | 30.0 (**+5.0 [+5.0, +5.0]**) |" in lines
    assert any(line.startswith("| noise | 25.0 (+0.0 [-10.0, +10.0]) |") for line in lines)


def test_what_is_missing_and_failed_is_said(tmp_path: Path) -> None:
    failure = Failure(stage="plan", kind="InvalidOutputError", message="no", fallback="local")
    ledger = Ledger(stages=(StageRecord(stage="plan", usage=Usage(calls=1, tokens_in=9), failures=(failure,)),))
    records = [
        record("q1", "plain", 50.0),
        Record(sample="q1", system="disco", unscored={"em": "prose"}, ledger=ledger, error="QueryError: too long"),
    ]
    said = report([write(tmp_path / "run", records, finished=False, note="Judged by us.")])
    for part in (
        "Unfinished",
        "| disco | – |",
        "em: not computed. none of 1 answers could be scored",
        "disco: partly local: in 1 questions",
        "disco: 1 questions without an answer",
        "- Judged by us.",
    ):
        assert part in said, part


def test_a_run_without_systems_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no system yet"):
        report([write(tmp_path / "run", [])])


def compare_lists(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Paired:
    found = compare({str(i): x for i, x in enumerate(a)}, {str(i): x for i, x in enumerate(b)}, seed=seed)
    assert found
    return found


def test_t_test_and_mean_equal_those_by_hand() -> None:
    # d = 2, 1, 3, 0: mean 1.5; variance (0.25 + 0.25 + 2.25 + 2.25) / 3 = 5/3; t = 1.5 / sqrt(5/12), t² = 5.4.
    # Three degrees of freedom: F(t) = 1/2 + (x / (1 + x²) + atan x) / pi with x = t / sqrt(3).
    x = sqrt(5.4 / 3)
    p = 2 * (0.5 - (x / (1 + x * x) + atan(x)) / pi)
    found = compare_lists([3, 5, 7, 5], [1, 4, 4, 5])
    assert (found.n, found.difference) == (4, 1.5)
    assert found.p == pytest.approx(p, abs=1e-9)
    assert found.p == pytest.approx(0.1027, abs=1e-4)


def test_bootstrap_interval_equals_that_by_hand_and_one_that_touches_zero_does_not_exclude_it() -> None:
    # Resampled means of 1 and 3 are 1, 2, 3 with chances 1/4, 1/2, 1/4: the outer 2.5 % are 1 and 3.
    assert compare_lists([1, 3], [0, 0]).interval == Interval(low=1, high=3)
    found = [Interval(low=lo, high=hi).excludes_zero for lo, hi in ((0, 1), (-1, 0), (0.1, 1), (-1, -0.1), (-1, 1))]
    assert found == [False, False, True, True, False]


@pytest.mark.parametrize(("values", "interval"), [([4.0, 4.0, 4.0], Interval(low=4, high=4)), ([4.0], None)])
def test_equal_or_single_differences_have_no_p(values: list[float], interval: Interval | None) -> None:
    found = compare_lists(values, [0.0] * len(values))
    assert (found.difference, found.p, found.interval) == (4, None, interval)


def test_only_questions_that_both_have_are_compared() -> None:
    found = compare({"a": 3.0, "b": 9.0}, {"a": 1.0, "c": 0.0}, seed=0)
    assert found == Paired(n=1, difference=2.0)
    assert compare({"a": 1.0}, {"b": 1.0}, seed=0) is None


SAMPLES = [
    Sample(id=str(i), query=f"Who won the cup {i}?", references=(f"Team {i} won it {i % 3} times.",)) for i in range(20)
]
COPIES = [Record(sample=s.id, system="copy", answer=s.references[0]) for s in SAMPLES]
OTHERS = [Record(sample=s.id, system="noise", answer="zzz " * (40 + i)) for i, s in enumerate(SAMPLES)]


@pytest.mark.deep
def test_copies_of_what_people_wrote_reach_100_and_other_texts_do_not(tmp_path: Path) -> None:
    pytest.importorskip("mauve")
    found = mauve_of(
        [*COPIES, *OTHERS], [*SAMPLES, Sample(id="x", query="no reference")], tiny_model(tmp_path / "gpt2")
    )
    assert found["copy"] == pytest.approx(100)
    assert found["noise"] < 60


def test_it_says_which_package_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mauve, "find_spec", dict[str, object]().get)
    with pytest.raises(MetricUnavailableError, match="mauve-text"):
        mauve_of(COPIES, SAMPLES, tmp_path)
