from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.errors import ModelUnavailableError
from discorag.schema.ledger import Failure, Ledger, StageRecord
from discorag.schema.usage import Usage

counts = st.integers(0, 10**9)
usages = st.builds(Usage, tokens_in=counts, tokens_out=counts, tokens_cached=counts, calls=counts)


@given(st.lists(usages))
def test_usage_adds_up_field_by_field(parts: list[Usage]) -> None:
    total = sum(parts, Usage())
    assert total.tokens_in == sum(p.tokens_in for p in parts)
    assert total.tokens_cached == sum(p.tokens_cached for p in parts)


def test_merging_keeps_every_failure_and_sums_per_stage_and_engine() -> None:
    failure = Failure.of("parse", ModelUnavailableError("down", hint="start it"), fallback="rules-1")
    records = [
        StageRecord(stage="parse", engine="llm", seconds=1, usage=Usage(tokens_in=5), failures=(failure,)),
        StageRecord(stage="parse", engine="llm", seconds=2, usage=Usage(tokens_in=7)),
        StageRecord(stage="parse", engine="local", seconds=4),
    ]
    ledger = Ledger.merged(records)
    assert [(s.engine, s.seconds, s.usage.tokens_in) for s in ledger.stages] == [("llm", 3, 12), ("local", 4, 0)]
    assert ledger.failures == (failure,)
    assert failure.kind == "ModelUnavailableError"
    assert "start it" in failure.message
