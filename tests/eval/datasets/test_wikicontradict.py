import json
from pathlib import Path

from eval.datasets.wikicontradict import load_wikicontradict

LINE = {
    "question": "When did the mill open?",
    "context1": "The mill opened in 1846.",
    "context2": "The town's mill opened in 1864.",
    "context1_info": "The town is old. The mill opened in 1846.",
    "context2_info": "It opened in 1864. Its tolls were high.",
}


def test_each_passage_has_its_statement_as_gold_and_questions_within_one_passage_are_left_out(tmp_path: Path) -> None:
    within = LINE | {"context2_info": LINE["context1_info"]}
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (LINE, within)), "utf-8")
    loaded = load_wikicontradict(file)
    [sample] = loaded.samples
    places = [place for piece in sample.gold for place in piece.anywhere]
    assert [p.span.of(loaded.documents[p.doc].text) for p in places] == [
        "The mill opened in 1846.",
        "It opened in 1864.",
    ]
    assert len(sample.documents) == 2
