"""How rounds of two working trees are compared."""

from bench.answers.speed import summarise


def test_a_ratio_is_of_the_rounds_that_ran_side_by_side() -> None:
    found = summarise(
        {"before": [{"ms": 10.0}, {"ms": 20.0}, {"ms": 40.0}], "after": [{"ms": 5.0}, {"ms": 10.0}, {"ms": 80.0}]}
    )
    assert found["before"] == {"ms": 20.0}
    assert found["ratio"] == {"ms": 0.5}
    assert found["rounds"] == 3
