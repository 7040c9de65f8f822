"""The summary: what counts as met, and that standard RAG is what the ratios are to."""

import pytest

from bench.cost import SYSTEMS
from bench.pipeline import TARGETS, met


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("recomputed_ratio_k10", 1.8, True),
        ("recomputed_ratio_k10", 1.81, False),
        ("ingest_words_per_s", 1500.0, True),
        ("ingest_words_per_s", 1499.0, False),
    ],
)
def test_a_target_is_a_bound_from_above_or_from_below(name: str, value: float, expected: bool) -> None:
    assert met(name, dict.fromkeys(TARGETS, 0.0) | {name: value}) is expected


def test_ratios_are_to_the_pipeline_with_everything_off() -> None:
    assert SYSTEMS[0].switches == {"use_tree": False, "use_graph": False, "use_plan": False}
