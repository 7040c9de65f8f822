"""Benchmarks whose questions come with the paragraphs that they are asked about."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.acl_verbatim import load_acl_verbatim
from eval.datasets.clapnq import load_clapnq
from eval.datasets.hotpotqa import load_hotpotqa
from eval.datasets.mtrag_un import is_self_contained, load_mtrag_un
from eval.datasets.musique import load_musique
from eval.datasets.nq_open_oracle import load_nq_open_oracle
from eval.datasets.wikicontradict import load_wikicontradict
from eval.errors import DataError
from tests.eval.datasets.official import changed, gold_texts
from tests.eval.helpers import FIXTURES

HOTPOTQA = load_hotpotqa(FIXTURES / "hotpotqa" / "hotpot_dev_distractor_sample100.json")
MUSIQUE = load_musique(FIXTURES / "musique" / "musique_tiny.jsonl")
NQ = load_nq_open_oracle(FIXTURES / "nq_open_oracle" / "nq-open-oracle.jsonl")
CLAPNQ = load_clapnq(FIXTURES / "clapnq")


def test_a_paragraph_is_one_document_of_its_sentences_and_questions_keep_answer_and_strata() -> None:
    document = HOTPOTQA.documents["Gull Island"]
    assert document.text == "# Gull Island\n\nGull Island is small. It lies in the River Onn."
    assert [part.of(document.text) for part in document.parts] == ["Gull Island is small.", "It lies in the River Onn."]
    sample = HOTPOTQA.samples[0]
    assert sample.id == "h1"
    assert sample.references == ("River Onn",)
    assert sample.short_answers == (("River Onn",),)
    assert sample.strata == {"type": "bridge", "level": "hard"}


def test_paragraphs_are_pooled_and_another_text_of_a_title_gets_its_own_id() -> None:
    first, second = HOTPOTQA.samples
    assert first.documents == ("Ivo Tarn", "Gull Island", "Onn")
    assert second.documents[2] == "Ivo Tarn"
    onn, gull = second.documents[:2]
    assert onn.startswith("Onn [")
    assert HOTPOTQA.documents[onn].text == "# Onn\n\nOnn is a town."
    assert HOTPOTQA.documents[gull].text == "# Gull Island\n\nGull Island is big."
    assert len(HOTPOTQA.documents) == 5


def test_supporting_facts_point_at_their_sentence_past_blank_ones_and_those_without_one_are_counted() -> None:
    assert [gold_texts(HOTPOTQA, sample) for sample in HOTPOTQA.samples] == [
        [("Ivo Tarn#0", ["Ivo Tarn was born on Gull Island."]), ("Gull Island#2", ["It lies in the River Onn."])],
        [("Onn#0", ["Onn is a town."]), ("Gull Island#1", ["Gull Island is big."])],
    ]
    assert HOTPOTQA.dropped == {"supporting fact not in the context": 2}


def test_paragraphs_of_one_title_are_told_apart_and_equal_ones_shared() -> None:
    first, second = MUSIQUE.samples
    assert first.documents[:2] == ("Mira Holt", "Rook Club")
    assert first.documents[2].startswith("Rook Club [")
    assert second.documents == ("Rook Club", "Void")
    assert MUSIQUE.documents["Rook Club"].text == "# Rook Club\n\nThe club meets on Mondays."
    assert MUSIQUE.documents[first.documents[2]].text == "# Rook Club\n\nOtto Pell founded the Rook Club."
    assert all(document.parts == () for document in MUSIQUE.documents.values())


def test_every_supporting_paragraph_is_gold_without_its_heading_and_blank_ones_are_counted() -> None:
    assert gold_texts(MUSIQUE, MUSIQUE.samples[0]) == [
        ("Mira Holt", ["Mira Holt joined the Rook Club."]),
        ("Rook Club", ["Otto Pell founded the Rook Club."]),
    ]
    assert MUSIQUE.dropped == {"supporting paragraph is blank": 1}


def test_aliases_are_accepted_each_once_and_hops_and_answerability_are_kept() -> None:
    first, second = MUSIQUE.samples
    assert (first.references, first.short_answers) == (("Otto Pell",), (("Otto Pell", "O. Pell"),))
    assert second.short_answers == (("1910",),)
    assert [(s.strata, s.answerable) for s in (first, second)] == [({"hops": "2hop"}, True), ({"hops": "3hop"}, False)]


def test_questions_on_one_paragraph_share_its_document() -> None:
    assert [sample.documents for sample in NQ.samples] == [("nq-0",), ("nq-0",), ("nq-2",), ("nq-3",)]
    assert list(NQ.documents) == ["nq-0", "nq-2", "nq-3"]
    assert NQ.documents["nq-2"].text.startswith("# The Blue Ferry\n\nThe Blue Ferry is a painting")
    assert NQ.samples[0].short_answers == (("140 km", "140 kilometres"),)


def test_gold_is_where_an_answer_stands() -> None:
    assert gold_texts(NQ, NQ.samples[1]) == [("Orre", ["near Vellby"])]
    assert NQ.dropped == {}


def test_without_the_answer_the_gold_is_the_paragraph_and_counted(tmp_path: Path) -> None:
    benchmark = load_nq_open_oracle(changed("nq-open-oracle", tmp_path, [3, "answers"], ["eighteen eighty-eight"]))
    [(_, [text])] = gold_texts(benchmark, benchmark.samples[3])
    assert text.startswith("The Vellby Theatre opened")
    assert text.endswith("insured it well.")
    assert benchmark.dropped == {"questions whose answer is not in the gold paragraph": 1}


def test_passages_are_documents_of_their_own_and_a_question_is_answerable_where_an_annotator_answered_it() -> None:
    assert {s.id: s.answerable for s in CLAPNQ.samples} == {"clapnq--11": True, "clapnq-12": False}
    assert [len(s.references) for s in CLAPNQ.samples] == [2, 0]
    assert [d.title for d in CLAPNQ.documents.values()] == ["Lanse Harbour"] * 2


def test_evidence_is_every_sentence_that_an_annotator_selected_where_it_stands() -> None:
    sample = CLAPNQ.samples[0]
    text = CLAPNQ.documents[sample.documents[0]].text
    assert [place.span.of(text) for piece in sample.gold for place in piece.anywhere] == [
        "It freezes late because a warm stream flows past it.",
        "Lanse Harbour lies in the north.",
    ]
    assert CLAPNQ.dropped == {"selected sentences that are not in the passage": 1}


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


CHUNK = "\n## Mills\n\nThe mill stands still. The river froze.\n"
GOLD = "The river froze."


def written(folder: Path, *spans: dict[str, object]) -> Path:
    row = {"query": "Why does it stand still?", "paper_id": "M1", "chunk_index": 2, "chunk": CHUNK, "gold_spans": spans}
    file = folder / "gold.jsonl"
    file.write_text(json.dumps(row) + "\n", "utf-8")
    return file


def test_gold_spans_are_those_of_the_stripped_text_and_without_them_a_row_is_not_answerable(tmp_path: Path) -> None:
    start = CHUNK.index(GOLD)
    loaded = load_acl_verbatim(written(tmp_path, {"start": start, "end": start + len(GOLD), "text": GOLD}))
    [sample] = loaded.samples
    text = loaded.documents[sample.documents[0]].text
    assert [place.span.of(text) for piece in sample.gold for place in piece.anywhere] == [GOLD]
    assert sample.answerable
    assert not load_acl_verbatim(written(tmp_path)).samples[0].answerable


def test_a_span_that_differs_from_its_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gold\.jsonl:1"):
        load_acl_verbatim(written(tmp_path, {"start": 0, "end": 3, "text": "Mil"}))


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
