from math import sqrt

import pytest

from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure, Ledger, StageRecord
from eval.running.record import MetricSummary, Record
from eval.running.summary import summarise


def record(sample: str, **fields: object) -> Record:
    return Record.model_validate({"sample": sample, "system": "s", **fields})


def test_mean_is_over_scored_records_and_unscored_are_counted() -> None:
    records = [
        record("1", scores={"em": 100.0}),
        record("2", scores={"em": 50.0}),
        record("3", unscored={"em": "prose"}),
        record("4"),
    ]
    # (100 + 50) / 2; the third is not a zero, the fourth does not apply.
    assert summarise(records, {}, {}).metrics == {"em": MetricSummary(mean=75, n=2, unscored=1)}


def test_a_metric_that_scored_nothing_is_missing_and_never_zero_also_without_records() -> None:
    found = summarise([record("1", unscored={"judge": "wrote: SECRET"})], {}, {"summac": "no model"})
    assert found.metrics == {}
    assert found.missing["summac"] == "no model"
    assert "1 answers" in found.missing["judge"]
    assert "SECRET" not in found.missing["judge"]
    found = summarise([], {}, {"em": "not run"})
    assert (found.metrics, found.seconds, found.missing) == ({}, 0.0, {"em": "not run"})


def test_ovscore_is_the_geometric_mean_of_the_two_means() -> None:
    records = [
        record("1", scores={"disambig_f1": 20.0, "rougeLsum": 10.0}),
        record("2", scores={"disambig_f1": 40.0, "rougeLsum": 30.0}),
    ]
    # Means 30 and 20: sqrt(600) = 24.4949; not the mean of sqrt(200) and sqrt(1200), which is 24.3916.
    found = summarise(records, {}, {}).metrics["dr_ovscore"]
    assert found.mean == pytest.approx(sqrt(600))
    assert found.n == 2
    assert "dr_ovscore" not in summarise([record("1", scores={"rougeLsum": 10.0})], {}, {}).metrics


def test_strata_hold_the_means_of_their_own_samples() -> None:
    records = [record(str(i), scores={"em": float(10 * i)}) for i in range(4)]
    strata = {str(i): {"level": "odd" if i % 2 else "even"} for i in range(4)}
    found = summarise(records, strata, {}).strata["level"]
    # even: (0 + 20) / 2; odd: (10 + 30) / 2.
    assert {value: m["em"].mean for value, m in found.items()} == {"even": 10, "odd": 20}


def test_totals_and_medians() -> None:
    failure = Failure(stage="plan", kind="RateLimitedError", message="")
    stage = StageRecord(stage="plan", usage=Usage(tokens_in=5, tokens_out=2, calls=1), failures=(failure,))
    records = [
        record("1", answer="one two", seconds=1.0, ledger=Ledger(stages=(stage, stage))),
        record("2", answer="one two three four", seconds=2.0, ledger=Ledger(stages=(stage,))),
        record("3", error="ModelError: down", seconds=9.0),
    ]
    found = summarise(records, {}, {})
    assert found.failures == {"RateLimitedError": 3}
    assert (found.tokens_in, found.tokens_out, found.calls) == (15, 6, 3)
    # Medians of 1, 2, 9 seconds; of 2 and 4 words, since the third gave no answer.
    assert (found.errors, found.seconds, found.words) == (1, 2.0, 3.0)


def test_answers_that_others_than_the_language_model_made_are_counted_by_stage() -> None:
    def fell_back(stage: str, kind: str, fallback: str) -> Ledger:
        failure = Failure(stage=stage, kind=kind, message="", fallback=fallback)
        return Ledger(stages=(StageRecord(stage=stage, failures=(failure, failure)),))

    records = [
        record("1", ledger=fell_back("relate", "InvalidOutputError", "local")),
        record("2", ledger=fell_back("relate", "ContextTooLongError", "local")),
        record("3", ledger=fell_back("generate", "InputError", "sentences by relevance")),  # no model's failure
        record("4"),
    ]
    found = summarise(records, {}, {})
    assert (found.partly_local, found.stood_in) == (2, {"relate": 2})
    assert found.label.startswith("partly local: in 2 questions")
    assert summarise(records[2:], {}, {}).label == ""
