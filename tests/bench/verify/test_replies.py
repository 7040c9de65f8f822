"""The count over replies of a language model: what it reads, and where the wrong values that it plants come from."""

import json
from pathlib import Path
from typing import Any

from bench.verify.replies import load, measure, plant
from discorag.models.protocol import Encoder
from tests.inputs import inputs_from

TEXTS = {
    "mill": "The mill of Harlow closed in 1903, when Ada Quill was its owner. It had 412 looms.",
    "ferry": "The ferry of Bexley was built in 1871 by Jon Sarn. It carried 96 people.",
}


async def folder_of(path: Path, encoder: Encoder, *answers: str) -> Path:
    chunks = (await inputs_from(TEXTS, "Mill?", encoder)).chunks
    rows: list[dict[str, Any]] = [{"source": c.title, "chunk": c.model_dump(mode="json")} for c in chunks]
    (path / "passages-2.json").write_text(json.dumps([{"id": "q", "passages": rows}]), "utf-8")
    replies = (json.dumps({"id": "q", "question": "Mill?", "answer": a, "seconds": 1}) for a in answers)
    (path / "F.details.jsonl").write_text("\n".join(replies) + "\n", "utf-8")
    return path


async def test_sentences_to_check_are_counted_and_listed(tmp_path: Path, encoder: Encoder) -> None:
    folder = await folder_of(
        tmp_path, encoder, "The mill closed in 1903 [1]. The ferry was built in 1872 [2].", "It had 412 looms [1]."
    )
    figures, listed = measure(load(folder))
    assert figures["sentences"] == {"n": 3, "check": 1}
    assert listed[0] == "check\tIn none of its sources: the number 1872.\t[2]\tThe ferry was built in 1872."


async def test_wrong_values_stand_where_their_origin_says(tmp_path: Path, encoder: Encoder) -> None:
    folder = await folder_of(tmp_path, encoder, "When it closed in 1903, the mill had 412 looms [1].")
    [sentence] = load(folder)
    planted = plant([sentence])
    assert {(p.kind, p.old, p.new) for p in planted if p.origin == "another passage"} == {
        ("date", "1903", "1871"),
        ("value", "412", "96"),
    }
    assert {p.kind for p in planted if p.origin == "none"} == {"date", "value"}
    assert all(sentence.check(p.text).missing for p in planted)
