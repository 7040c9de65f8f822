"""A file of questions, answered by Ray's actors."""

from __future__ import annotations

import json

from tests.ray.conftest import Line
from tests.ray.test_documents import write


def test_a_question_that_kills_is_an_error_and_is_asked_again_and_answers_are_not(line: Line) -> None:
    line.ingest(write(line.home / "docs", tide="The tide rises because the moon pulls."), "--parser", "none")
    line.ingest(write(line.home / "more", rust="KILL: iron rusts."), "--parser", "none", "--corpus", "rust")
    asked = line.home / "questions.jsonl"
    asked.write_text("".join(json.dumps({"id": f"q{i}", "question": f"Why does tide {i} rise?"}) + "\n" for i in "123"))
    words = ("ask", "--batch", str(asked), "--out", "replies.jsonl", "--set", 'parser="poison"')
    assert "3 of 3 answered" in line.run(*words)
    before = (line.home / "replies.jsonl").read_text()
    asked.write_text(asked.read_text() + json.dumps({"id": "k", "question": "What does iron do?"}) + "\n")
    line.run(*words, "--corpus", "rust", "--retriever", "dense", code=1)
    after = (line.home / "replies.jsonl").read_text()
    assert after.startswith(before)
    [poisoned] = [json.loads(text) for text in after.removeprefix(before).splitlines()]
    assert (poisoned["id"], poisoned["error"]["kind"]) == ("k", "PoisonedError")
