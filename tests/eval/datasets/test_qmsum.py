from pathlib import Path

from eval.datasets.qmsum import load_qmsum
from tests.eval.datasets.official import gold_texts

BENCHMARK = load_qmsum(Path(__file__).parents[1] / "fixtures" / "qmsum" / "test.jsonl")


def test_a_meeting_becomes_one_paragraph_per_turn_without_the_blank_ones() -> None:
    document = BENCHMARK.documents["test-1"]
    assert document.text == (
        "# Meeting 1\n\nChair: We start with the pump.\n\nAna: It costs 90 euros. {vocalsound}\n\n"
        "Chair: Then we buy it.\n\nAna: Good."
    )
    assert [part.of(document.text) for part in document.parts] == document.text.split("\n\n")[1:]


def test_queries_keep_the_official_order_specific_before_general() -> None:
    samples = BENCHMARK.samples
    assert [(sample.id, sample.strata["kind"], sample.documents) for sample in samples] == [
        ("test-1-s1", "specific", ("test-1",)),
        ("test-1-s2", "specific", ("test-1",)),
        ("test-1-s3", "specific", ("test-1",)),
        ("test-1-g1", "general", ("test-1",)),
        ("test-2-s1", "specific", ("test-2",)),
    ]
    assert samples[0].query == "What does the pump cost?"
    assert samples[0].references == ("Ana said it costs 90 euros.",)
    assert "few sentences" in samples[0].instruction


def test_gold_spans_count_turns_inclusively_and_skip_blank_turns() -> None:
    by_id = {sample.id: gold_texts(BENCHMARK, sample) for sample in BENCHMARK.samples}
    assert by_id == {
        "test-1-s1": [("turns 1-2", ["Ana: It costs 90 euros. {vocalsound}"])],
        "test-1-s2": [
            ("turns 0-0", ["Chair: We start with the pump."]),
            ("turns 3-4", ["Chair: Then we buy it.\n\nAna: Good."]),
        ],
        "test-1-s3": [],
        "test-1-g1": [],
        "test-2-s1": [("turns 0-1", ["Chair: Where is Cleo?\n\nCleo: Sorry, the tram."])],
    }
    assert BENCHMARK.dropped == {"gold span of blank turns only": 1, "gold span outside the meeting": 1}
