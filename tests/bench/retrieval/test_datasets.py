"""The datasets in their official formats, on small files; on the real ones where they are at hand."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.retrieval.datasets import DATASETS, POOL, load_cases
from bench.retrieval.measures import MEASURES, measure
from bench.retrieval.questions import HALVES, Case
from discorag.types.errors import ConfigError, MissingPathError
from eval.errors import DataError

FIXTURES = Path(__file__).parents[2] / "eval" / "fixtures"
DATA = Path(os.environ.get("DISCO_RAG_DATA", "")).absolute()
needs_data = pytest.mark.skipif(not (DATA / "summhay").is_dir(), reason="DISCO_RAG_DATA does not name the datasets.")


@pytest.fixture
def fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCO_RAG_DATA", str(FIXTURES))


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder of the test's own."""
    monkeypatch.setenv("DISCO_RAG_DATA", str(tmp_path))
    return tmp_path


def texts(case: Case) -> list[list[str]]:
    """The evidence as text, piece by piece and place by place."""
    return [[p.span.of(case.by_id[p.doc].text) for p in gold.anywhere] for gold in case.evidence]


@pytest.mark.usefixtures("fixtures")
def test_qmsum_evidence_is_turns_and_queries_without_any_are_left_out() -> None:
    first, second, last = found = load_cases("qmsum")
    assert [case.id for case in found] == ["meetings-1-s1", "meetings-1-s2", "meetings-2-s1"]
    assert len(texts(second)) == 2
    assert (first.question, texts(first)) == ("What does the pump cost?", [["Ana: It costs 90 euros. {vocalsound}"]])
    assert texts(last) == [["Chair: Where is Cleo?\n\nCleo: Sorry, the tram."]]
    assert all(case.dataset == "qmsum" and len(case.documents) == 1 for case in found)


@pytest.mark.usefixtures("fixtures")
def test_fairytaleqa_evidence_is_sections() -> None:
    for case in load_cases("fairytaleqa"):
        [document] = case.documents
        assert document.text.startswith("# ")
        assert {place.span for gold in case.evidence for place in gold.anywhere} <= set(document.parts)


@pytest.mark.usefixtures("fixtures")
def test_qasper_evidence_is_paragraphs_by_annotator_without_highlights() -> None:
    found = load_cases("qasper")
    assert found
    assert {gold.label for case in found for gold in case.evidence} == {"evidence"}
    assert {gold.annotator for case in found for gold in case.evidence} > {0}


@pytest.mark.usefixtures("fixtures")
def test_hotpotqa_evidence_is_sentences_of_several_paragraphs() -> None:
    first, second = load_cases("hotpotqa")
    assert texts(first) == [["Ivo Tarn was born on Gull Island."], ["It lies in the River Onn."]]
    assert first.gold_documents == {"Ivo Tarn", "Gull Island"}
    assert len(first.documents) == 3
    assert first.half == second.half


@pytest.mark.usefixtures("fixtures")
def test_musique_evidence_is_paragraphs() -> None:
    first = load_cases("musique")[0]
    assert texts(first) == [["Mira Holt joined the Rook Club."], ["Otto Pell founded the Rook Club."]]
    assert len(first.gold_documents) == 2


def nq_line(number: int) -> dict[str, Any]:
    paragraph = {"title": f"Page {number}", "text": f"Number {number} is blue.", "isgold": True}
    return {"question": f"what colour is number {number}", "answers": ["blue"], "ctxs": [paragraph]}


def write_lines(path: Path, lines: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")


def test_nq_questions_are_asked_of_pools_that_hold_their_paragraph(own: Path) -> None:
    write_lines(own / "nq_open_oracle" / "oracle.jsonl", [nq_line(i) for i in range(2 * POOL + 5)])
    found = load_cases("nq")
    pools = {tuple(document.id for document in case.documents): case.half for case in found}
    assert [len(pool) for pool in pools] in ([POOL + 2, POOL + 3], [POOL + 3, POOL + 2])
    assert len({doc for pool in pools for doc in pool}) == 2 * POOL + 5
    assert all(case.gold_documents == {case.id} and texts(case) == [["blue"]] for case in found)


@pytest.mark.usefixtures("fixtures")
def test_few_nq_paragraphs_are_one_pool() -> None:
    assert {len(case.documents) for case in load_cases("nq")} == {3}


@pytest.mark.usefixtures("fixtures")
def test_loong_takes_english_questions_that_ask_something_and_knows_the_documents_they_need() -> None:
    found = {case.id: case for case in load_cases("loong")}
    assert "loong-2" not in found
    assert found["loong-1"].gold_documents == {"2024-Northwind Kilns Inc.-j.txt"}
    assert found["loong-3"].gold_documents == {"9901.00002.md"}
    assert [document.id for document in found["loong-3"].documents] == ["9901.00001.md", "9901.00002.md"]
    assert not found["loong-1"].evidence


def topic(**changed: Any) -> dict[str, Any]:
    insights = [{"insight_id": "i1", "insight": "Bread rose. "}, {"insight_id": "i2", "insight": "Milk fell."}]
    other = {"subtopic_id": "s2", "query": "Tea?", "insights": [{"insight_id": "i3", "insight": "Tea stayed."}]}
    included = {"d1": ["i1", "i3"], "d2": ["i3"], "d3": ["i2"], "d4": []}
    return {
        "topic": "Prices",
        "subtopics": [{"subtopic_id": "s1", "query": "What changed?", "insights": insights}, other],
        "documents": [
            {"document_id": doc, "document_text": f"Text of {doc}.\r\n", "insights_included": list(ids)}
            for doc, ids in included.items()
        ],
        **changed,
    }


def write_topic(folder: Path, content: Any) -> None:
    folder.mkdir()
    (folder / "topic_tiny.json").write_text(json.dumps(content), encoding="utf-8")


def test_summhay_gold_documents_include_an_insight_of_the_query(own: Path) -> None:
    write_topic(own / "summhay", topic())
    first, second = load_cases("summhay")
    assert (first.id, first.question, first.references) == ("s1", "What changed?", ("Bread rose.", "Milk fell."))
    assert (first.gold_documents, second.gold_documents) == ({"d1", "d3"}, {"d1", "d2"})
    assert [document.text for document in first.documents] == [
        "Text of d1.",
        "Text of d2.",
        "Text of d3.",
        "Text of d4.",
    ]
    assert not first.evidence


def test_a_summhay_file_without_a_field_is_refused_with_its_place(own: Path) -> None:
    write_topic(own / "summhay", topic(documents=[{"document_id": "d1", "insights_included": []}]))
    with pytest.raises(DataError, match=r"topic_tiny\.json: documents\.0\.document_text: Field required"):
        load_cases("summhay")


def test_a_missing_folder_says_what_to_set(own: Path) -> None:
    with pytest.raises(MissingPathError, match=r"qmsum is no folder.*Set DISCO_RAG_DATA"):
        load_cases("qmsum")


def test_a_folder_without_files_says_what_it_lacks(own: Path) -> None:
    (own / "qmsum").mkdir()
    with pytest.raises(MissingPathError, match=r"qmsum has no \*\.jsonl.*DISCO_RAG_DATA"):
        load_cases("qmsum")


def test_an_unknown_dataset_is_named() -> None:
    with pytest.raises(ConfigError, match=r"'quality'.*qmsum, fairytaleqa"):
        load_cases("quality")


def test_every_dataset_names_measures_that_exist() -> None:
    assert {metric for dataset in DATASETS.values() for metric in dataset.metrics} == set(MEASURES)


@needs_data
@pytest.mark.parametrize("dataset", DATASETS)
async def test_real_files_give_both_halves_and_their_measures_apply(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCO_RAG_DATA", str(DATA))
    found = load_cases(dataset)
    sides = [{d.text for case in found if case.half == half for d in case.documents} for half in HALVES]
    assert all(sides)
    assert not sides[0] & sides[1]
    assert len({case.id for case in found}) == len(found)
    for case in found[:20]:
        selected = [place for gold in case.evidence for place in gold.anywhere]
        scores = await measure(case, selected, 10**6, DATASETS[dataset].metrics)
        assert set(scores) == set(DATASETS[dataset].metrics)
        assert scores.get("evidence_recall", 100) == 100
