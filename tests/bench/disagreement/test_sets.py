"""What `bench.disagreement` takes for a contradiction, and how it counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.disagreement import labelled, namesakes, wikicontradict
from bench.disagreement.judged import Said
from discorag.schema.discourse import ChunkRelation

REPORTED = Said(0.9, ChunkRelation.CONTRADICTS)
WEAKER = Said(0.6, ChunkRelation.CONTRADICTS)
SILENT = Said(0.1, None)
LINE: dict[str, Any] = {
    "question": "When did the mill open?",
    "context1": "The mill opened in 1846.",
    "context2": "The town's mill opened in 1864.",
    "context1_info": "The town is old. The mill opened in 1846.",
    "context2_info": "It opened in 1864. Its tolls were high.",
    "contradiction_type": "Explicit",
}


class Scripted:
    """Says of each pair what the test wants."""

    def __init__(self, contradicted: set[tuple[str, str]]) -> None:
        self._contradicted = contradicted

    def say(self, pairs: list[tuple[str, str]]) -> list[Said]:
        return [REPORTED if pair in self._contradicted else SILENT for pair in pairs]


def written(folder: Path, name: str, *lines: dict[str, Any]) -> Path:
    file = folder / "contradiction" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder


def test_every_pair_of_sentences_is_a_candidate_and_the_stated_two_are_gold(tmp_path: Path) -> None:
    [item] = wikicontradict.items(written(tmp_path, "wikicontradict/wiki_contradict_refined.jsonl", LINE))
    assert len(item.pairs) == 4
    assert [item.pairs[k] for k in item.gold] == [("The mill opened in 1846.", "It opened in 1864.")]


def test_a_passage_that_contradicts_itself_is_asked_for_two_of_its_own_sentences(tmp_path: Path) -> None:
    passage = "The mill opened in 1846. It is old. The mill opened in 1864."
    line = LINE | {"context1_info": passage, "context2_info": passage, "context2": "The mill opened in 1864."}
    [item] = wikicontradict.items(written(tmp_path, "wikicontradict/wiki_contradict_refined.jsonl", line))
    assert item.within
    assert [item.pairs[k] for k in item.gold] == [("The mill opened in 1846.", "The mill opened in 1864.")]


def test_an_item_is_found_where_its_pair_is_among_the_surest_three(tmp_path: Path) -> None:
    data = written(tmp_path, "wikicontradict/wiki_contradict_refined.jsonl", LINE)
    right: Any = Scripted({("The mill opened in 1846.", "It opened in 1864.")})
    wrong: Any = Scripted({("The town is old.", "Its tolls were high.")})
    assert wikicontradict.measured(data, right)["explicit"]["between"]["f1_top3"] == 1.0
    missed = wikicontradict.measured(data, wrong)["explicit"]["between"]
    assert (missed["f1_top3"], missed["reported"], missed["f1_always_yes"]) == (0.0, 1, 0.4)


@pytest.mark.parametrize(
    ("kinds", "answers", "counted"),
    [
        (("correct", "correct"), ("Paris", "Texas"), "namesakes"),
        (("correct", "correct"), ("Paris", "Paris"), "same"),
        (("correct", "misinfo"), ("Paris", "Rome"), "wrong"),
    ],
)
def test_documents_are_paired_by_whether_both_are_right(
    tmp_path: Path, kinds: tuple[str, str], answers: tuple[str, str], counted: str
) -> None:
    documents = [{"text": f"It is in {a}.", "type": k, "answer": a} for k, a in zip(kinds, answers, strict=True)]
    data = written(tmp_path, "ramdocs/RAMDocs_test.jsonl", {"documents": documents})
    judge: Any = Scripted({(f"It is in {answers[0]}.", f"It is in {answers[1]}.")})
    assert namesakes.measured(data, judge)[counted] == {"pairs": 1, "reported": 1.0}


def test_health_claims_that_are_there_twice_count_once(tmp_path: Path) -> None:
    folder = tmp_path / "healthver"
    folder.mkdir()
    for name in ("healthver_dev.csv", "healthver_test.csv"):
        (folder / name).write_text("id,evidence,claim,label\n1,It fell.,It rose.,Refutes\n", "utf-8")
    assert list(labelled.healthver(tmp_path)) == [("It fell.", "It rose.", "refutes")]
