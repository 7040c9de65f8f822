"""The pairs of the verifier's benchmark: how many of which kind, and what happens to a spoilt file."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.verify.pairs import FOLDER, Edit, Pair, load_hostile, load_pairs
from discorag.schema.errors import MissingPathError
from discorag.verification.guards import missing_detail
from eval.errors import DataError

FILES = DEV, HELDOUT = [FOLDER / "dev.jsonl", FOLDER / "heldout.jsonl"]
HOSTILE = FOLDER / "hostile.jsonl"
EVIDENCE = "The ferry carried 40 passengers across the strait on Monday. It did not sail on Tuesday."


def pair(sentence: str = "Anything.", edit: Edit = "none", *, id: str = "p", evidence: str = EVIDENCE) -> Pair:
    return Pair(id=id, evidence=evidence, sentence=sentence, supported=edit == "none", edit=edit, genre="news")


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def words(text: str) -> set[str]:
    return {w.strip(".,;:").casefold() for w in text.split()}


def write(path: Path, pairs: list[Pair]) -> Path:
    path.write_text("".join(p.model_dump_json() + "\n" for p in pairs), encoding="utf-8")
    return path


PAIRS = [
    pair("The ferry carried 40 passengers across the strait on Monday.", id="a"),
    pair("On Monday the ferry carried 40 passengers across the strait.", id="b"),
    pair("The ferry carried 50 passengers across the strait on Monday.", "number", id="c"),
    pair("The ferry did sail on Tuesday.", "negation", id="d"),
]


def test_the_development_pairs_are_forty_supported_and_ten_of_each_edit() -> None:
    edits = ("number", "negation", "condition", "attribution", "entity", "time")
    assert Counter(p.edit for p in load_pairs(DEV)) == {"none": 40, **dict.fromkeys(edits, 10)}


def test_the_held_out_pairs_are_as_many_of_each_edit_as_agreed() -> None:
    pairs = load_pairs(HELDOUT)
    thirty, more = ("negation", "condition", "entity"), ("number", "time", "attribution")
    expected = {"none": 140, "role": 20, **dict.fromkeys(thirty, 30), **dict.fromkeys(more, 32)}
    assert Counter(p.edit for p in pairs) == expected
    assert len({p.genre for p in pairs[100:]}) == 25


def test_each_edit_is_dealt_out_to_the_halves_in_turn_and_only_the_held_out_pairs_have_halves() -> None:
    dealt: dict[str, list[str | None]] = {}
    for p in load_pairs(HELDOUT):
        dealt.setdefault(p.edit, []).append(p.half)
    assert all(halves == ["score", "choose"] * (len(halves) // 2) for halves in dealt.values())
    assert {p.half for p in load_pairs(DEV)} == {None}


def test_held_out_ids_count_on_from_one() -> None:
    assert [p.id for p in load_pairs(HELDOUT)] == [f"h{n:03}" for n in range(1, 347)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_length_in_a_half_is_out_of_the_agreed_bounds(path: Path) -> None:
    assert [p.id for p in load_pairs(path) if not 15 <= len(p.evidence.split()) <= 60] == []


def test_no_id_and_no_evidence_stands_twice_in_one_half_or_in_both() -> None:
    pairs = [p for path in FILES for p in load_pairs(path)]
    assert [k for k, n in Counter(p.id for p in pairs).items() if n > 1] == []
    assert [k for k, n in Counter(" ".join(p.evidence.casefold().split()) for p in pairs).items() if n > 1] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_sentence_is_its_evidence_and_no_false_one_stands_in_it_and_none_is_there_twice(path: Path) -> None:
    pairs = load_pairs(path)
    assert [p.id for p in pairs if plain(p.sentence) == plain(p.evidence)] == []
    assert [p.id for p in pairs if not p.supported and plain(p.sentence) in plain(p.evidence)] == []
    assert [k for k, n in Counter(plain(p.sentence) for p in pairs).items() if n > 1] == []


def test_the_hostile_sentences_are_as_many_of_each_kind_as_agreed() -> None:
    kinds = Counter(c.kind for c in load_hostile(HOSTILE))
    assert kinds.pop("true") == 42
    assert kinds == {
        "stitched": 25,
        "conclusion": 8,
        **dict.fromkeys(("roles", "condition"), 7),
        **dict.fromkeys(("cause", "number", "comparison", "hypothetical", "empty"), 6),
        **dict.fromkeys(("population", "negation"), 5),
        **dict.fromkeys(("attribution", "time", "superlative"), 4),
    }


def test_a_hostile_sentence_has_an_id_of_its_own_and_is_supported_only_if_its_kind_is_true() -> None:
    cases = load_hostile(HOSTILE)
    assert len({c.id for c in cases}) == len({(*c.documents.values(), c.sentence) for c in cases}) == len(cases)
    assert [c.id for c in cases if c.supported != (c.kind == "true")] == []


def test_each_set_of_documents_has_forged_sentences_and_at_least_two_true_ones() -> None:
    cases = load_hostile(HOSTILE)
    sets = {tuple(c.documents.items()) for c in cases}
    assert len(sets) == 16
    assert {len(s) for s in sets} == {2}
    for s in sets:
        of_set = [c for c in cases if tuple(c.documents.items()) == s]
        assert sum(c.supported for c in of_set) >= 2
        assert not all(c.supported for c in of_set)
        assert len({c.id.split("-")[0] for c in of_set}) == 1


def test_each_hostile_document_is_spoken_of_with_words_that_the_other_one_lacks() -> None:
    cases = load_hostile(HOSTILE)
    spoken: dict[tuple[str, ...], set[str]] = {}
    for c in cases:
        spoken.setdefault(tuple(c.documents.values()), set()).update(words(c.sentence))
    for (one, other), said in spoken.items():
        assert said & (words(one) - words(other))
        assert said & (words(other) - words(one))


def test_no_hostile_sentence_is_false_though_it_stands_in_a_document() -> None:
    forged = [c for c in load_hostile(HOSTILE) if not c.supported and c.kind != "empty"]
    assert [c.id for c in forged for d in c.documents.values() if plain(c.sentence) in plain(d)] == []


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


def test_few_true_sentences_lack_a_detail_of_their_evidence() -> None:
    true = [(p.sentence, p.evidence) for p in load_pairs(HELDOUT) if p.supported and p.half == "choose"]
    true += [(c.sentence, " ".join(c.documents.values())) for c in load_hostile(HOSTILE) if c.supported]
    assert sum(bool(missing_detail(*pair)) for pair in true) <= 0.05 * len(true)
