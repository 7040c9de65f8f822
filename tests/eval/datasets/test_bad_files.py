"""A file that is cut off, missing or wrong in one entry is named, with the place and the field."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import MissingPathError
from eval.datasets.registry import load_benchmark
from eval.errors import DataError
from tests.eval.datasets.official import FILES, GONE, changed, entries_of
from tests.eval.helpers import FIXTURES

ONE_FILE = [name for name, file in FILES.items() if (FIXTURES / file).is_file()]


def first_of(dataset: str) -> Any:
    return entries_of(dataset)[0][0]


@pytest.mark.parametrize(
    ("dataset", "place", "value", "said"),
    [
        ("asqa-pooled", [1], first_of("asqa-pooled"), "id asqa-1 appears twice"),
        ("asqa-pooled", [3, "docs", 1, "text"], GONE, "pooled.json: 3.docs.1.text"),
        ("asqa-pooled", [1, "docs", 2, "text"], "Another town.", "pooled.json: asqa-2: passage id p103"),
        ("asqa-pooled", [0, "docs", 0, "text"], " ", "pooled.json: asqa-1: text of passage p101 is empty"),
        ("hotpotqa", [1, "_id"], "h1", "id h1 appears twice"),
        ("lay-summaries", [1], first_of("lay-summaries"), "id 10.9999/lay.0001 appears twice"),
        ("lay-summaries", [2, "headings", 0], GONE, "lay.0003: headings: 3 headings for 4 sections"),
        ("musique", [1, "paragraphs"], [{"title": "T"}], "tiny.jsonl:2: paragraphs.0.paragraph_text: Field required"),
        ("musique", [1, "id"], "2hop__1_2", "id 2hop__1_2 appears twice"),
        ("nq-open-oracle", [1, "ctxs"], GONE, ".jsonl:2: ctxs"),
        ("nq-open-oracle", [2, "ctxs", 0, "isgold"], False, ".jsonl:3: ctxs: no paragraph has isgold"),
        ("qampari", [1, "answers"], GONE, "answers: Field required"),
        ("qasper", ["0001.00002", "full_text"], GONE, "0001.00002.full_text: Field required"),
        ("qasper", ["0001.00002", "qas", 0, "question_id"], "q1", "id q1 appears twice"),
        (
            "qasper",
            ["0001.00002", "qas", 0, "answers", 0, "answer", "extractive_spans"],
            [],
            "0001.00002: q4: answer 0 is empty",
        ),
        ("qmsum", [0, "meeting_transcripts"], [], "jsonl:1: meeting_transcripts: "),
        (
            "qmsum",
            [0, "specific_query_list", 0, "relevant_text_span"],
            GONE,
            "specific_query_list.0.relevant_text_span",
        ),
        ("quality", [0, "questions", 0, "gold_label"], 5, "dev:1: questions.0.gold_label: "),
        ("quality", [0, "questions", 0, "question_unique_id"], "100_A_2", "id 100_A_2 appears twice"),
        ("quality", [1, "article"], "Another moon.", "dev:2: article_id 100 has another text"),
        ("ramdocs", [1, "gold_answers"], GONE, "RAMDocs_test.jsonl:2: gold_answers"),
        ("ramdocs", [0, "documents", 1, "type"], "right", "RAMDocs_test.jsonl:1: documents.1.type"),
        ("triviaqa", [1], first_of("triviaqa"), "appears twice"),
    ],
)
def test_a_bad_entry_is_named(dataset: str, place: list[str | int], value: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(said)):
        load_benchmark(dataset, changed(dataset, tmp_path, place, value))


@pytest.mark.parametrize("dataset", ["qampari", "eli5"])
def test_alces_files_without_passages_are_refused(dataset: str, tmp_path: Path) -> None:
    entries, _ = entries_of(dataset)
    file = tmp_path / "alce.json"
    file.write_text(json.dumps([{**entry, "docs": []} for entry in entries]), "utf-8")
    with pytest.raises(DataError, match="no entry has docs"):
        load_benchmark(dataset, file)


@pytest.mark.parametrize("dataset", ONE_FILE)
def test_a_file_that_is_cut_off_is_named_with_its_line(dataset: str, tmp_path: Path) -> None:
    whole = FIXTURES / FILES[dataset]
    file = tmp_path / whole.name
    file.write_text(whole.read_text("utf-8").rstrip()[:-30], "utf-8")
    with pytest.raises(DataError, match=rf"{re.escape(file.name)}:\d+: "):
        load_benchmark(dataset, file)


@pytest.mark.parametrize("dataset", FILES)
def test_a_missing_file_is_named(dataset: str, tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"nowhere does not exist.*eval data"):
        load_benchmark(dataset, tmp_path / "nowhere")


def test_a_question_file_without_its_story_names_both(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES / FILES["fairytaleqa"], tmp_path / "tales"))
    (folder / "section-stories/val/the-tin-owl-story.csv").unlink()
    said = r"the-tin-owl-questions\.csv: its story .*the-tin-owl-story\.csv does not exist"
    with pytest.raises(DataError, match=said):
        load_benchmark("fairytaleqa", folder)


def test_a_question_about_a_page_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES / FILES["conditionalqa"], tmp_path / "pages"))
    (folder / "documents.json").write_text("[]", "utf-8")
    with pytest.raises(DataError, match=r"dev\.json: dev-0: there is no page .*mooring-allowance"):
        load_benchmark("conditionalqa", folder)


def test_a_topic_that_is_cut_off_and_a_folder_without_topics_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"holds no topic_\*\.json.*eval data"):
        load_benchmark("summhay", tmp_path)
    folder = Path(shutil.copytree(FIXTURES / FILES["summhay"], tmp_path / "topics"))
    (folder / "topic_news2.json").write_text('{"topic_id": "t2"', "utf-8")
    with pytest.raises(DataError, match=r"topic_news2\.json:1: "):
        load_benchmark("summhay", folder)
