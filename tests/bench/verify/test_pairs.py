"""The pairs of the verifier's benchmark: how many of which kind, and what happens to a spoilt file."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.verify.pairs import FOLDER, Edit, Pair, load_hostile, load_pairs
from discorag.types.errors import MissingPathError
from eval.errors import DataError

FILES = [FOLDER / "dev.jsonl", FOLDER / "heldout.jsonl"]
EVIDENCE = "The ferry carried 40 passengers across the strait on Monday. It did not sail on Tuesday."


def pair(sentence: str = "Anything.", edit: Edit = "none", *, id: str = "p", evidence: str = EVIDENCE) -> Pair:
    return Pair(id=id, evidence=evidence, sentence=sentence, supported=edit == "none", edit=edit, genre="news")


def write(path: Path, pairs: list[Pair]) -> Path:
    path.write_text("".join(p.model_dump_json() + "\n" for p in pairs), encoding="utf-8")
    return path


PAIRS = [
    pair("The ferry carried 40 passengers across the strait on Monday.", id="a"),
    pair("On Monday the ferry carried 40 passengers across the strait.", id="b"),
    pair("The ferry carried 50 passengers across the strait on Monday.", "number", id="c"),
    pair("The ferry did sail on Tuesday.", "negation", id="d"),
]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_each_half_has_forty_supported_pairs_and_ten_of_each_edit(path: Path) -> None:
    edits = ("number", "negation", "condition", "attribution", "entity", "time")
    assert Counter(p.edit for p in load_pairs(path)) == {"none": 40, **dict.fromkeys(edits, 10)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_length_in_a_half_is_out_of_the_agreed_bounds(path: Path) -> None:
    assert [p.id for p in load_pairs(path) if not 15 <= len(p.evidence.split()) <= 60] == []


def test_no_id_and_no_evidence_stands_twice_in_one_half_or_in_both() -> None:
    pairs = [p for path in FILES for p in load_pairs(path)]
    assert [k for k, n in Counter(p.id for p in pairs).items() if n > 1] == []
    assert [k for k, n in Counter(" ".join(p.evidence.casefold().split()) for p in pairs).items() if n > 1] == []


def test_twenty_three_sentences_are_hostile_and_each_set_of_documents_has_true_ones_too() -> None:
    cases = load_hostile(FOLDER / "hostile.jsonl")
    assert sum(not c.supported for c in cases) == 23
    by_documents = Counter((tuple(c.documents), c.supported) for c in cases)
    assert all(by_documents[documents, True] for documents, _ in by_documents)


def test_pairs_are_read_in_file_order(tmp_path: Path) -> None:
    assert load_pairs(write(tmp_path / "dev.jsonl", PAIRS)) == PAIRS


def renamed(line: dict[str, Any]) -> dict[str, Any]:
    return {("claim" if k == "sentence" else k): v for k, v in line.items()}


SPOILT: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "cut off": (lambda line: json.dumps(line)[:-20], "dev.jsonl:2"),
    "field renamed": (lambda line: json.dumps(renamed(line)), "dev.jsonl:2: sentence"),
    "unknown edit": (lambda line: json.dumps({**line, "edit": "tone"}), "dev.jsonl:2: edit"),
    "label and edit at odds": (lambda line: json.dumps({**line, "edit": "time"}), "edit is 'time'"),
    "extra field": (lambda line: json.dumps({**line, "note": "x"}), "dev.jsonl:2: note"),
    "id repeated": (lambda line: json.dumps({**line, "id": "a"}), "dev.jsonl:2: id a appears twice"),
}


@pytest.mark.parametrize(("spoil", "named"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_line_is_named_with_its_field(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], str], named: str
) -> None:
    path = write(tmp_path / "dev.jsonl", PAIRS)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = spoil(json.loads(lines[1]))
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=named):
        load_pairs(path)


@pytest.mark.parametrize("kept", [[], PAIRS[:2], PAIRS[2:]], ids=["empty", "all supported", "none supported"])
def test_a_half_of_which_no_rate_can_be_told_is_refused(tmp_path: Path, kept: list[Pair]) -> None:
    with pytest.raises(DataError, match="needs supported and unsupported"):
        load_pairs(write(tmp_path / "dev.jsonl", kept))


def test_a_missing_half_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"heldout\.jsonl"):
        load_pairs(tmp_path / "heldout.jsonl")
