import shutil
from pathlib import Path

import pytest

from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.errors import DataError

TALES = Path(__file__).parents[1] / "fixtures" / "fairytaleqa"
QUESTIONS = "questions/val/the-tin-owl-questions.csv"
STORY = "section-stories/val/the-tin-owl-story.csv"
BENCHMARK = load_fairytaleqa(TALES)


def test_sections_are_the_parts_of_a_story_titled_by_its_file() -> None:
    document = BENCHMARK.documents["the-tin-owl"]
    assert document.text == (
        '# The tin owl\n\nA tin owl lived on a barn.\n\nIt sang: "Hoo."\n\nNobody heard it.\n\nIt was lonely.'
    )
    assert [part.of(document.text) for part in document.parts] == [
        "A tin owl lived on a barn.",
        'It sang: "Hoo."\n\nNobody heard it.',
        "It was lonely.",
    ]


def test_columns_are_read_by_name_and_references_are_all_answers_each_once() -> None:
    by_id = {sample.id: sample for sample in BENCHMARK.samples}
    assert by_id["salt-bread-1"].strata == {"local-or-sum": "local", "attribute1": "feeling", "ex-or-im1": "implicit"}
    assert by_id["the-tin-owl-1"].strata["attribute1"] == "setting"
    assert by_id["the-tin-owl-1"].references == ("on a barn", "on the roof of a barn")
    assert by_id["salt-bread-1"].references == ("proud", "happy")
    assert by_id["the-tin-owl-1"].query == "Where did the tin owl live?"


def test_every_section_named_is_one_gold_piece() -> None:
    sample = next(sample for sample in BENCHMARK.samples if sample.id == "the-tin-owl-2")
    document = BENCHMARK.documents["the-tin-owl"]
    assert [(gold.label, [place.span for place in gold.anywhere]) for gold in sample.gold] == [
        ("section 2", [document.parts[1]]),
        ("section 3", [document.parts[2]]),
    ]


def test_unknown_sections_and_questions_without_answers_are_counted() -> None:
    assert BENCHMARK.dropped == {"gold section not in the story": 1, "question without an answer": 1}
    assert [sample.id for sample in BENCHMARK.samples] == [
        "salt-bread-1",
        "the-tin-owl-1",
        "the-tin-owl-2",
        "the-tin-owl-3",
    ]


def test_stories_with_equal_text_are_one_document(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TALES, tmp_path / "tales"))
    for part in ("questions", "section-stories"):
        for file in list((folder / part / "test").iterdir()):
            file.unlink()
        (source,) = (folder / part / "val").iterdir()
        shutil.copy(source, folder / part / "test" / source.name.replace("the-tin-owl", "The-tin-owl"))
    benchmark = load_fairytaleqa(folder)
    assert list(benchmark.documents) == ["The-tin-owl"]
    assert {sample.documents for sample in benchmark.samples} == {("The-tin-owl",)}


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (QUESTIONS, "cor_section", "section", r"the-tin-owl-questions\.csv:2: cor_section: "),
        (QUESTIONS, ",on the roof of a barn,on a barn,", "", r"the-tin-owl-questions\.csv:2: answer4: "),
        (
            QUESTIONS,
            "7,action,,Who",
            "7,action,,Who, or",
            r"the-tin-owl-questions\.csv:4: fields without a column: \[''\]",
        ),
        (QUESTIONS, "\n2,summary", "\n1,summary", "id the-tin-owl-1 appears twice"),
        (STORY, "\n3,It", "\n1,It", r"the-tin-owl-story\.csv:6: section 1 appears twice"),
        (STORY, '\n\nNobody heard it."\n3,It was lonely.\n', "", r"the-tin-owl-story\.csv:3: unexpected end of data"),
    ],
)
def test_a_bad_row_is_named_with_file_line_and_field(tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    folder = Path(shutil.copytree(TALES, tmp_path / "tales"))
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_fairytaleqa(folder)
