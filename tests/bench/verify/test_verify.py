"""The verifier's benchmark: its sentences, and what it makes of the verifier's answers."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.verify.__main__ import state_of
from bench.verify.pairs import FOLDER, Edit, Pair, load_hostile, load_pairs
from discorag.models.protocol import Encoder
from discorag.schema.answer import Support
from discorag.schema.errors import MissingPathError
from discorag.verification.guards import missing_details
from discorag.verification.tracing import TracingVerifier
from eval.errors import DataError
from tests.inputs import selector_of

HALVES = {half: load_pairs(FOLDER / f"heldout-{half}.jsonl") for half in ("score", "choose")}
PAIRS = sorted((pair for half in HALVES.values() for pair in half), key=lambda pair: pair.id)
HOSTILE = FOLDER / "hostile.jsonl"


def normal(text: str) -> str:
    return " ".join(text.casefold().split())


def test_the_held_out_pairs_are_as_many_of_each_edit_in_each_half() -> None:
    assert [p.id for p in PAIRS] == [f"h{n:03}" for n in range(1, 347)]
    thirty, more = ("negation", "condition", "entity"), ("number", "time", "attribution")
    expected = {"none": 140, "role": 20, **dict.fromkeys(thirty, 30), **dict.fromkeys(more, 32)}
    halves = Counter((p.edit, half) for half, pairs in HALVES.items() for p in pairs)
    assert halves == {(edit, half): n // 2 for edit, n in expected.items() for half in HALVES}


def test_no_pair_and_no_hostile_sentence_gives_itself_away() -> None:
    assert len({normal(p.evidence) for p in PAIRS}) == len({normal(p.sentence) for p in PAIRS}) == len(PAIRS)
    assert [p.id for p in PAIRS if normal(p.sentence) == normal(p.evidence)] == []
    assert [p.id for p in PAIRS if not p.supported and normal(p.sentence) in normal(p.evidence)] == []
    assert [p.id for p in PAIRS if not 15 <= len(p.evidence.split()) <= 60] == []
    forged = [c for c in load_hostile(HOSTILE) if not c.supported and c.kind != "empty"]
    assert [c.id for c in forged for d in c.documents.values() if normal(c.sentence) in normal(d)] == []


def test_few_true_sentences_lack_a_detail_of_their_evidence() -> None:
    true = [(p.sentence, p.evidence) for p in HALVES["choose"] if p.supported]
    true += [(c.sentence, " ".join(c.documents.values())) for c in load_hostile(HOSTILE) if c.supported]
    assert sum(bool(missing_details(sentence, [evidence])) for sentence, evidence in true) <= 0.05 * len(true)


def pair(id: str, sentence: str, edit: Edit = "none") -> Pair:
    evidence = "The ferry carried 40 passengers across the strait on Monday. It did not sail on Tuesday."
    return Pair(id=id, evidence=evidence, sentence=sentence, edit=edit, genre="news")


SMALL = [
    pair("a", "The ferry carried 40 passengers across the strait on Monday."),
    pair("b", "On Monday the ferry carried 40 passengers across the strait."),
    pair("c", "The ferry did sail on Tuesday.", "negation"),
]
SPOILT: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "cut off": (lambda line: json.dumps(line)[:-20], "pairs.jsonl:2"),
    "extra field": (lambda line: json.dumps({**line, "note": "x"}), "pairs.jsonl:2: note"),
    "id repeated": (lambda line: json.dumps({**line, "id": "a"}), "pairs.jsonl:2: id a appears twice"),
}


@pytest.mark.parametrize(("spoil", "named"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_line_is_named(tmp_path: Path, spoil: Callable[[dict[str, Any]], str], named: str) -> None:
    path = tmp_path / "pairs.jsonl"
    lines = [p.model_dump_json() for p in SMALL]
    path.write_text("\n".join([lines[0], spoil(json.loads(lines[1])), lines[2]]), "utf-8")
    with pytest.raises(DataError, match=named):
        load_pairs(path)


def test_pairs_of_one_label_or_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    for kept in ([], SMALL[:2], SMALL[2:]):
        path.write_text("".join(f"{p.model_dump_json()}\n" for p in kept), "utf-8")
        with pytest.raises(DataError, match="needs supported and unsupported"):
            load_pairs(path)
    with pytest.raises(MissingPathError, match="absent"):
        load_pairs(tmp_path / "absent.jsonl")


async def test_a_draft_is_as_supported_as_its_worst_sentence(encoder: Encoder) -> None:
    verifier = TracingVerifier(encoder, selector_of(encoder).reranker)
    documents = {"a": "The ferry sailed on Monday.", "b": "The mill closed in 1903."}
    drafts = {
        "The ferry sailed on Monday. The mill closed in 1903.": Support.QUOTED,
        "The ferry sailed on Monday. In 1903 the mill was shut.": Support.CITED,
        "The ferry sailed on Monday. The mill closed in 1930. In 1903 the mill was shut.": Support.CHECK,
    }
    assert {draft: await state_of(verifier, documents, draft) for draft in drafts} == drafts
