import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.schema.errors import MissingPathError
from eval.datasets.hotpotqa import load_hotpotqa
from eval.errors import DataError
from eval.sample import Benchmark, Sample

QUESTIONS = Path(__file__).parents[1] / "fixtures" / "hotpotqa" / "hotpot_tiny_distractor.json"


def gold_texts(benchmark: Benchmark, sample: Sample) -> dict[str, list[str]]:
    return {
        gold.label: [place.span.of(benchmark.documents[place.doc].text) for place in gold.anywhere]
        for gold in sample.gold
    }


def entries() -> list[dict[str, Any]]:
    return json.loads(QUESTIONS.read_text(encoding="utf-8"))


def test_a_paragraph_is_one_document_of_its_sentences() -> None:
    document = load_hotpotqa(QUESTIONS).documents["Gull Island"]
    assert document.text == "# Gull Island\n\nGull Island is small. It lies in the River Onn."
    assert [part.of(document.text) for part in document.parts] == ["Gull Island is small.", "It lies in the River Onn."]


def test_paragraphs_are_pooled_and_another_text_of_a_title_gets_its_own_id() -> None:
    benchmark = load_hotpotqa(QUESTIONS)
    first, second = benchmark.samples
    assert first.documents == ("Ivo Tarn", "Gull Island", "Onn")
    assert second.documents[2] == "Ivo Tarn"
    onn, gull = second.documents[:2]
    assert onn.startswith("Onn [")
    assert benchmark.documents[onn].text == "# Onn\n\nOnn is a town."
    assert benchmark.documents[gull].text == "# Gull Island\n\nGull Island is big."
    assert len(benchmark.documents) == 5


def test_questions_keep_their_answer_and_strata() -> None:
    sample = load_hotpotqa(QUESTIONS).samples[0]
    assert sample.id == "h1"
    assert sample.references == ("River Onn",)
    assert sample.short_answers == (("River Onn",),)
    assert sample.strata == {"type": "bridge", "level": "hard"}


def test_supporting_facts_point_at_their_sentence_past_blank_ones() -> None:
    benchmark = load_hotpotqa(QUESTIONS)
    assert gold_texts(benchmark, benchmark.samples[0]) == {
        "Ivo Tarn#0": ["Ivo Tarn was born on Gull Island."],
        "Gull Island#2": ["It lies in the River Onn."],
    }
    assert gold_texts(benchmark, benchmark.samples[1]) == {
        "Onn#0": ["Onn is a town."],
        "Gull Island#1": ["Gull Island is big."],
    }


def test_supporting_facts_without_a_sentence_are_counted() -> None:
    assert load_hotpotqa(QUESTIONS).dropped == {"supporting fact not in the context": 2}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("supporting_facts", None, r"bad\.json: 1\.supporting_facts: Field required"),
        ("context", [["Onn"]], r"bad\.json: 1\.context\.0\.1: Field required"),
        ("question", "", r"bad\.json: 1\.question: "),
        ("_id", "h1", "id h1 appears twice"),
    ],
)
def test_a_bad_entry_is_named_with_its_number_and_field(tmp_path: Path, field: str, value: Any, said: str) -> None:
    first, second = entries()
    second[field] = value
    if value is None:
        del second[field]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps([first, second]), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_hotpotqa(path)


def test_a_cut_file_is_named_with_the_line_where_it_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(QUESTIONS.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    with pytest.raises(DataError, match=r"cut\.json:\d+: "):
        load_hotpotqa(path)


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dict.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match=r"dict\.json: the entry: Input should be a valid list"):
        load_hotpotqa(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"none\.json"):
        load_hotpotqa(tmp_path / "none.json")


@given(st.lists(st.sampled_from(["", " ", "One.", " Two.", "Three.\n"]), max_size=6))
def test_every_sentence_that_is_not_blank_is_found_again_at_its_gold_span(sentences: list[str]) -> None:
    entry = {**entries()[0], "context": [["T", sentences]], "supporting_facts": [["T", n] for n in range(6)]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h.json"
        path.write_text(json.dumps([entry]), encoding="utf-8")
        benchmark = load_hotpotqa(path)
    expected = {f"T#{n}": [text.strip()] for n, text in enumerate(sentences) if text.strip()}
    assert gold_texts(benchmark, benchmark.samples[0]) == expected
    assert benchmark.dropped.get("supporting fact not in the context", 0) == 6 - len(expected)
