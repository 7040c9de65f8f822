"""The count over replies of a language model: what it reads, and where the wrong values that it plants come from."""

import json
from pathlib import Path

from bench.verify.replies import load, measure, plant

TEXTS = {
    "mill": "The mill of Harlow closed in 1903, when Ada Quill was its owner. It had 412 looms.",
    "ferry": "The ferry of Bexley was built in 1871 by Jon Sarn. It carried 96 people.",
}


def file_of(folder: Path, *answers: str) -> Path:
    passages = [{"source": name, "title": name, "text": text} for name, text in TEXTS.items()]
    question = {"id": "q", "question": "Mill?", "passages": passages, "answers": [{"text": a} for a in answers]}
    (folder / "answers.jsonl").write_text(json.dumps(question) + "\n", "utf-8")
    return folder / "answers.jsonl"


def test_sentences_to_check_are_counted_and_listed(tmp_path: Path) -> None:
    file = file_of(tmp_path, "The mill closed in 1903 [1]. The ferry was built in 1872 [2].", "It had 412 looms [1].")
    figures, listed = measure(load(file))
    assert figures["sentences"] == {"n": 3, "check": 1}
    assert listed[0] == "check\tIn none of its sources: the number 1872.\t[2]\tThe ferry was built in 1872."


def test_wrong_values_stand_where_their_origin_says(tmp_path: Path) -> None:
    file = file_of(tmp_path, "When it closed in 1903, the mill had 412 looms [1].")
    [sentence] = load(file)
    planted = plant([sentence])
    assert {(p.kind, p.old, p.new) for p in planted if p.origin == "another passage"} == {
        ("date", "1903", "1871"),
        ("value", "412", "96"),
    }
    assert {p.kind for p in planted if p.origin == "none"} == {"date", "value"}
    assert all(sentence.check(p.text).missing for p in planted)
