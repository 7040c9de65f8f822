"""A file of questions: what is answered is kept, what is not is asked once more, and nobody's file is overwritten."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from discorag import DiscoRAG
from discorag.schema.errors import InputError
from interfaces.cli.batch import Reply, answer_file
from interfaces.questions import Question, read_questions
from tests.interfaces.test_python import COFFEE, MEMORY, TIDES

TIDE = Question(id="t", question="Why does the tide rise?")
SLEEP = Question(id="s", question="What keeps us\u2028awake?")


@pytest.fixture(scope="module")
def rag() -> Iterator[DiscoRAG]:
    with DiscoRAG(MEMORY) as opened:
        opened.add_texts([TIDES, COFFEE], parser="rules")
        yield opened


def answered(rag: DiscoRAG, out: Path, *questions: Question, corpus: str | None = None) -> list[str]:
    """Ids in the order in which they were told."""
    told: list[str] = []
    rag.run(lambda: answer_file(rag, questions, out, on_reply=lambda r: told.append(r.id), corpus=corpus))
    return told


def read_replies(out: Path) -> dict[str, Reply]:
    return {r.id: r for r in map(Reply.model_validate_json, out.read_text("utf-8").split("\n")[:-1])}


def test_errors_and_cut_off_lines_are_asked_again_and_answers_are_not(rag: DiscoRAG, tmp_path: Path) -> None:
    out = tmp_path / "replies.jsonl"
    answered(rag, out, TIDE)
    first = out.read_text("utf-8")
    answered(rag, out, TIDE, SLEEP, corpus="none")
    assert read_replies(out)["s"].error is not None
    out.write_text(out.read_text("utf-8")[:-20], "utf-8")
    assert answered(rag, out, TIDE, SLEEP) == ["t", "s"]
    assert out.read_text("utf-8").startswith(first)
    result = read_replies(out)["s"].result
    assert result is not None
    assert COFFEE in result.answer.text


def test_a_file_of_something_else_or_of_other_questions_is_not_touched(rag: DiscoRAG, tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    out.write_text(TIDE.model_dump_json() + "\n", "utf-8")
    before = out.read_bytes()
    with pytest.raises(InputError, match="is not a file of replies"):
        answered(rag, out, TIDE)
    assert out.read_bytes() == before
    out = tmp_path / "replies.jsonl"
    answered(rag, out, TIDE)
    before = out.read_bytes()
    with pytest.raises(InputError, match=r"another question under the id 't'.* another --out"):
        answered(rag, out, SLEEP.model_copy(update={"id": "t"}))
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"question": "Why?"}', '{"query": "Why?"}'], "Line 2 of .*: question: Field required"),
        (["no JSON"], "Line 1 of"),
        (['{"question": "Why?", "id": "2"}', '{"question": "How?"}'], "Two questions of .* have the id '2'"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_asked(tmp_path: Path, lines: list[str], said: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError, match=said):
        read_questions(file, Question)


def test_questions_without_an_id_are_named_by_their_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(["", json.dumps({"question": "Why?", "filters": {"kind": ["drink"]}})]), "utf-8")
    [question] = read_questions(file, Question)
    assert (question.id, question.filters) == ("2", {"kind": ["drink"]})
