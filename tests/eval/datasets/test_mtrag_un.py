import json
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.mtrag_un import is_self_contained, load_mtrag_un


def task(name: str, question: str, answerability: str, *passages: str, collection: str = "govt") -> dict[str, Any]:
    turns = [{"speaker": "user", "text": "Hello."}, {"speaker": "agent", "text": "Hello!"}]
    return {
        "task_id": name,
        "contexts": [{"document_id": "same", "text": f"\n{passage}"} for passage in passages],
        "input": [*turns, {"speaker": "user", "text": question}],
        "answerability": [answerability],
        "Collection": collection,
    }


def test_passages_of_a_collection_are_one_corpus_and_the_last_turn_is_the_question(tmp_path: Path) -> None:
    tasks = [
        task("a", "Where does the mill stand?", "ANSWERABLE", "The mill stands in Lanse.", "It is old."),
        task("b", "And how old is it?", "UNANSWERABLE"),
        task("c", "Where is the harbour?", "PARTIAL", "The mill stands in Lanse.", collection="fiqa"),
    ]
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in tasks), "utf-8")
    govt, fiqa = load_mtrag_un(file)
    assert [document.text for document in govt.documents.values()] == ["The mill stands in Lanse.", "It is old."]
    assert [(s.query, s.answerable, s.strata["kind"]) for s in govt.samples] == [
        ("Where does the mill stand?", True, "single"),
        ("And how old is it?", False, "conversation"),
    ]
    assert fiqa.samples[0].strata["kind"] == "partial"


@pytest.mark.parametrize(
    ("question", "alone"),
    [("What does envelope encryption do?", True), ("Data isolation", False), ("What about those fees, then?", False)],
)
def test_a_question_is_single_if_it_is_long_enough_and_refers_to_nothing(question: str, alone: bool) -> None:
    assert is_self_contained(question) is alone
