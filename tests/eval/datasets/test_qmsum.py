import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.errors import MissingPathError
from eval.datasets.qmsum import load_qmsum
from eval.errors import DataError
from eval.sample import Benchmark, Sample

MEETINGS = Path(__file__).parents[1] / "fixtures" / "qmsum" / "meetings.jsonl"


def gold_texts(benchmark: Benchmark, sample: Sample) -> list[tuple[str, str]]:
    return [
        (gold.label, place.span.of(benchmark.documents[place.doc].text))
        for gold in sample.gold
        for place in gold.anywhere
    ]


def one_meeting(**changes: Any) -> dict[str, Any]:
    meeting: dict[str, Any] = {
        "general_query_list": [],
        "specific_query_list": [{"query": "Who?", "answer": "Ana.", "relevant_text_span": [["0", "0"]]}],
        "meeting_transcripts": [{"speaker": "Ana", "content": "Hello."}],
    }
    return {key: value for key, value in {**meeting, **changes}.items() if value is not None}


def test_a_meeting_becomes_one_paragraph_per_turn_without_the_blank_ones() -> None:
    document = load_qmsum(MEETINGS).documents["meetings-1"]
    assert document.text == (
        "# Meeting 1\n\nChair: We start with the pump.\n\nAna: It costs 90 euros. {vocalsound}\n\n"
        "Chair: Then we buy it.\n\nAna: Good."
    )
    assert [part.of(document.text) for part in document.parts] == document.text.split("\n\n")[1:]


def test_queries_keep_the_official_order_specific_before_general() -> None:
    samples = load_qmsum(MEETINGS).samples
    assert [(sample.id, sample.strata["kind"], sample.documents) for sample in samples] == [
        ("meetings-1-s1", "specific", ("meetings-1",)),
        ("meetings-1-s2", "specific", ("meetings-1",)),
        ("meetings-1-s3", "specific", ("meetings-1",)),
        ("meetings-1-g1", "general", ("meetings-1",)),
        ("meetings-2-s1", "specific", ("meetings-2",)),
    ]
    assert samples[0].query == "What does the pump cost?"
    assert samples[0].references == ("Ana said it costs 90 euros.",)
    assert "few sentences" in samples[0].instruction


def test_gold_spans_count_turns_inclusively_and_skip_blank_turns() -> None:
    benchmark = load_qmsum(MEETINGS)
    by_id = {sample.id: gold_texts(benchmark, sample) for sample in benchmark.samples}
    assert by_id["meetings-1-s1"] == [("turns 1-2", "Ana: It costs 90 euros. {vocalsound}")]
    assert by_id["meetings-1-s2"] == [
        ("turns 0-0", "Chair: We start with the pump."),
        ("turns 3-4", "Chair: Then we buy it.\n\nAna: Good."),
    ]
    assert by_id["meetings-1-g1"] == []
    assert by_id["meetings-2-s1"] == [("turns 0-1", "Chair: Where is Cleo?\n\nCleo: Sorry, the tram.")]


def test_gold_without_a_place_is_dropped_and_counted() -> None:
    benchmark = load_qmsum(MEETINGS)
    assert benchmark.samples[2].gold == ()
    assert benchmark.dropped == {"gold span of blank turns only": 1, "gold span outside the meeting": 1}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (json.dumps(one_meeting())[:70], r"bad\.jsonl:2: "),
        (json.dumps(one_meeting(meeting_transcripts=None)), r"bad\.jsonl:2: meeting_transcripts: "),
        (json.dumps(one_meeting(meeting_transcripts=[])), r"bad\.jsonl:2: meeting_transcripts: "),
        (
            json.dumps(one_meeting(specific_query_list=[{"query": "Who?", "answer": "Ana.", "spans": []}])),
            r"bad\.jsonl:2: specific_query_list\.0\.relevant_text_span: ",
        ),
        (
            json.dumps(one_meeting(general_query_list=[{"query": " ", "answer": "Ana."}])),
            r"bad\.jsonl:2: general_query_list\.0\.query: ",
        ),
    ],
    ids=["cut off", "field missing", "no turns", "field renamed", "blank query"],
)
def test_a_bad_line_is_named_with_its_number_and_field(tmp_path: Path, bad: str, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(one_meeting()) + "\n" + bad, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_qmsum(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"test\.jsonl"):
        load_qmsum(tmp_path / "test.jsonl")


@given(st.lists(st.sampled_from(["", " ", "Yes.", "No\nway. ", "Über 3 €."]), min_size=1, max_size=8), st.data())
def test_a_gold_span_holds_exactly_the_turns_it_names(contents: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(contents) - 1))
    last = data.draw(st.integers(first, len(contents) - 1))
    meeting = one_meeting(
        meeting_transcripts=[{"speaker": f"S{n}", "content": content} for n, content in enumerate(contents)],
        specific_query_list=[{"query": "Who?", "answer": "Ana.", "relevant_text_span": [[str(first), str(last)]]}],
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.jsonl"
        path.write_text(json.dumps(meeting), encoding="utf-8")
        benchmark = load_qmsum(path)
    named = [f"S{n}: {contents[n].strip()}" for n in range(first, last + 1) if contents[n].strip()]
    found = [text for _, text in gold_texts(benchmark, benchmark.samples[0])]
    assert found == (["\n\n".join(named)] if named else [])
