import json
from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import MissingPathError
from eval.datasets.quality import load_quality
from eval.errors import DataError

STORIES = Path(__file__).parents[1] / "fixtures" / "quality" / "QuALITY.tiny.htmlstripped.dev"


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "bad.dev"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORIES.read_text(encoding="utf-8").splitlines()]


def test_the_two_lines_of_an_article_share_its_document() -> None:
    benchmark = load_quality(STORIES)
    assert {doc: document.text for doc, document in benchmark.documents.items()} == {
        "100": "# The Red Moon\n\nThe moon was red.\nIt rose.",
        "200": "No title here.",
    }
    assert [(sample.id, sample.documents) for sample in benchmark.samples] == [
        ("100_A_1", ("100",)),
        ("100_A_2", ("100",)),
        ("100_B_1", ("100",)),
        ("200_A_1", ("200",)),
    ]


def test_gold_labels_count_from_one_and_correct_from_zero() -> None:
    assert [sample.correct for sample in load_quality(STORIES).samples] == [0, 3, 1, 2]


def test_options_stand_in_the_instruction_and_not_in_the_query() -> None:
    sample = load_quality(STORIES).samples[0]
    assert sample.query == "Question 100_A_1?"
    assert sample.options == ("Red", "Green", "Blue", "None of these")
    assert sample.instruction.endswith("\n(a) Red\n(b) Green\n(c) Blue\n(d) None of these")
    assert "letter in parentheses" in sample.instruction


def test_difficult_is_a_stratum_only_where_the_file_has_it() -> None:
    assert [sample.strata for sample in load_quality(STORIES).samples] == [
        {"difficult": "1"},
        {"difficult": "0"},
        {},
        {},
    ]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("gold_label", 5, r"bad\.dev:1: questions\.0\.gold_label: "),
        ("gold_label", None, r"bad\.dev:1: questions\.0\.gold_label: "),
        ("options", ["Red"], r"bad\.dev:1: questions\.0\.options: "),
        ("question", " ", r"bad\.dev:1: questions\.0\.question: "),
        ("question_unique_id", "100_A_2", "id 100_A_2 appears twice"),
    ],
)
def test_a_bad_question_is_named_with_line_and_field(tmp_path: Path, field: str, value: Any, said: str) -> None:
    row = rows()[0]
    row["questions"][0][field] = value
    with pytest.raises(DataError, match=said):
        load_quality(write(tmp_path, row))


def test_a_renamed_field_is_named(tmp_path: Path) -> None:
    row = rows()[0]
    row["text"] = row.pop("article")
    with pytest.raises(DataError, match=r"bad\.dev:1: article: Field required"):
        load_quality(write(tmp_path, row))


def test_an_article_id_with_two_texts_is_refused(tmp_path: Path) -> None:
    first, second, _ = rows()
    second["article"] = "Another moon."
    with pytest.raises(DataError, match=r"bad\.dev:2: article_id 100 has another text"):
        load_quality(write(tmp_path, first, second))


def test_a_cut_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.dev"
    path.write_text(STORIES.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    with pytest.raises(DataError, match=r"cut\.dev:3: "):
        load_quality(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"none\.dev"):
        load_quality(tmp_path / "none.dev")
