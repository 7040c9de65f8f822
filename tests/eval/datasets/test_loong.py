import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.loong import load_loong
from eval.errors import DataError

LOONG = Path(__file__).parents[1] / "fixtures" / "loong"
BENCHMARK = load_loong(LOONG)
LINES: list[dict[str, Any]] = [
    json.loads(line) for line in (LOONG / "loong.jsonl").read_text(encoding="utf-8").splitlines()
]
SPOTLIGHT, COMPARISON, CITATIONS, CHAIN = LINES


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    """The fixture's documents with other questions."""
    shutil.copytree(LOONG / "doc", folder / "doc", dirs_exist_ok=True)
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "loong.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_the_official_patterns_resolve_names_to_documents_keyed_by_file_name() -> None:
    assert [sample.documents for sample in BENCHMARK.samples] == [
        ("2024-Northwind Kilns Inc.-j.txt", "2024-Harbor Looms Corp-j.txt"),
        ("report_990001-2024-云杉仪器-2024年一季度报告.txt", "report_990002-2024-海棠纸业-2024年一季度报告.txt"),
        ("9901.00001.md", "9901.00002.md"),
        ("9901.00002.md", "9901.00001.md"),
    ]
    assert len(BENCHMARK.documents) == 6
    assert BENCHMARK.dropped == {}
    assert BENCHMARK.samples[1].strata == {"level": "2", "set": "1", "type": "financial", "language": "zh"}


def test_level_4_filings_are_found_by_their_own_year(tmp_path: Path) -> None:
    row = {**COMPARISON, "level": 4, "doc": ["海棠纸业-2024年一季度报告"]}
    [sample] = load_loong(write(tmp_path, row)).samples
    assert sample.documents == ("report_990002-2024-海棠纸业-2024年一季度报告.txt",)


def test_equal_documents_share_one_id(tmp_path: Path) -> None:
    folder = write(tmp_path, {**CITATIONS, "doc": ["9901.00001.md", "copy.md"]})
    shutil.copy(folder / "doc/paper/9901.00001.md", folder / "doc/paper/copy.md")
    benchmark = load_loong(folder)
    assert benchmark.samples[0].documents == ("9901.00001.md",)
    assert list(benchmark.documents) == ["9901.00001.md"]


def test_text_is_canonical_without_byte_order_mark_and_carriage_returns(tmp_path: Path) -> None:
    folder = write(tmp_path, {**CITATIONS, "doc": ["bom.md", "9901.00002.md"]})
    (folder / "doc/paper/bom.md").write_bytes("\ufeff# A title\r\n\r\nText.\r\n".encode())
    document = load_loong(folder).documents["bom.md"]
    assert (document.title, document.text) == ("A title", "# A title\n\nText.")


def test_spotlight_evidence_is_the_number_in_the_filing_of_the_company_asked_about(tmp_path: Path) -> None:
    folder = write(tmp_path, SPOTLIGHT)
    other = folder / "doc/financial/2024-Harbor Looms Corp-j.txt"
    other.write_text(other.read_text(encoding="utf-8") + "\nThe fee was 0.37.\n", encoding="utf-8")
    benchmark = load_loong(folder)
    [sample] = benchmark.samples
    assert sample.short_answers == (("$(0.37)", "0.37"),)
    assert sample.references == ("$(0.37)",)
    [gold] = sample.gold
    places = [(place.doc, place.span.of(benchmark.documents[place.doc].text)) for place in gold.anywhere]
    assert places == [("2024-Northwind Kilns Inc.-j.txt", "0.37")] * 2  # in the table and in the discussion


def test_if_the_answer_is_a_company_the_number_asked_about_is_the_evidence(tmp_path: Path) -> None:
    row = {**SPOTLIGHT, "question": "Which company has a net income of $955 thousand?", "answer": "Harbor Looms Corp"}
    [sample] = load_loong(write(tmp_path, row)).samples
    assert sample.short_answers == (("Harbor Looms Corp",),)
    assert [(gold.label, {place.doc for place in gold.anywhere}) for gold in sample.gold] == [
        ("955", {"2024-Harbor Looms Corp-j.txt"})
    ]


@pytest.mark.parametrize("answer", ["$(0.3)", "$37", "99.99"])
def test_a_number_inside_another_number_is_no_evidence_and_counted(tmp_path: Path, answer: str) -> None:
    benchmark = load_loong(write(tmp_path, {**SPOTLIGHT, "answer": answer}))
    assert benchmark.samples[0].gold == ()
    assert benchmark.dropped == {"spotlight answers whose number is in no document": 1}


def test_the_gold_answer_is_written_as_the_official_code_writes_it() -> None:
    *_, citations, _ = BENCHMARK.samples
    assert citations.references == (
        "{'Reference': [], 'Citation': ['# Loud Ants Learn Faster: Messages in Sorting Swarms ']}",
    )


def test_a_paper_question_without_question_asks_the_instructions_task() -> None:
    sample = BENCHMARK.samples[3]
    assert sample.query == (
        "Please read the papers carefully. List the longest chain of citations among the given papers."
    )
    assert sample.instruction == CHAIN["instruction"]


@pytest.mark.parametrize(
    ("row", "head", "rest"),
    [
        ({**SPOTLIGHT, "question": "word " * 180 + "tail end"}, " ".join(["word"] * 180), "tail end"),
        ({**COMPARISON, "question": "问" * 200 + "答案"}, "问" * 200, "答案"),
    ],
)
def test_a_long_question_continues_in_the_instruction(
    tmp_path: Path, row: dict[str, Any], head: str, rest: str
) -> None:
    benchmark = load_loong(write(tmp_path, row))
    assert benchmark.samples[0].query == head
    assert benchmark.samples[0].instruction == f"{row['instruction']}\n\n{rest}"
    assert benchmark.dropped["questions shortened to the encoder's window"] == 1


def test_the_judges_prompt_keeps_docs_only_for_papers() -> None:
    spotlight, _, citations, _ = BENCHMARK.samples
    assert spotlight.prompt == f"\n\n{SPOTLIGHT['instruction']}\n\n{SPOTLIGHT['question']}"
    assert citations.prompt == (
        f"#Papers:\n{{docs}}\n\n{CITATIONS['instruction']}\n\n#The paper you need to analyze:\n{CITATIONS['question']}"
    )


LEGAL: dict[str, Any] = {
    **COMPARISON,
    "id": "law",
    "type": "legal",
    "question": "以上判决文书中，哪一份是刑事案件？",
    "doc": ["案二", "案一"],
    "answer": "判决文书1",
}
JUDGMENTS = {
    "案一": {"content": "原告要求被告还款。", "result": "被告应当还款。"},
    "案二": {"content": "被告人盗窃财物。", "result": "被告人犯盗窃罪。"},
}


def with_judgments(folder: Path, *rows: dict[str, Any]) -> Path:
    folder = write(folder, *rows)
    (folder / "doc/legal").mkdir()
    (folder / "doc/legal/legal.json").write_text(json.dumps(JUDGMENTS, ensure_ascii=False), encoding="utf-8")
    return folder


def test_legal_questions_without_their_judgments_are_counted(tmp_path: Path) -> None:
    benchmark = load_loong(write(tmp_path, LEGAL, CHAIN))
    assert [sample.id for sample in benchmark.samples] == ["loong-4"]
    assert benchmark.dropped == {"legal questions (doc/legal/legal.json is missing)": 1}


def test_legal_questions_load_where_their_judgments_are_there(tmp_path: Path) -> None:
    benchmark = load_loong(with_judgments(tmp_path, {**LEGAL, "level": 1}, CHAIN))
    law = benchmark.samples[0]
    assert (law.id, law.documents, law.references) == ("law", ("案二", "案一"), ("判决文书1",))
    assert (law.short_answers, law.gold, law.strata["type"]) == ((), (), "legal")
    assert law.instruction.endswith("《判决文书1》: 案二\n《判决文书2》: 案一")
    assert benchmark.documents["案二"].text == "被告人盗窃财物。被告人犯盗窃罪。"
    assert benchmark.dropped == {}


@pytest.mark.parametrize("field", ["question", "instruction"])
def test_verdicts_that_are_to_be_matched_do_not_stand_in_the_judgments(tmp_path: Path, field: str) -> None:
    row = {**LEGAL, "level": 4, field: "阅读以上判决文书，我将给你若干份判决结果：..."}
    benchmark = load_loong(with_judgments(tmp_path, row, {**LEGAL, "id": "other"}))
    texts = [[benchmark.documents[d].text for d in sample.documents] for sample in benchmark.samples]
    assert texts == [
        ["被告人盗窃财物。", "原告要求被告还款。"],
        ["被告人盗窃财物。被告人犯盗窃罪。", "原告要求被告还款。被告应当还款。"],
    ]


def test_a_judgment_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"loong\.jsonl:1: doc: legal\.json has no 案三"):
        load_loong(with_judgments(tmp_path, {**LEGAL, "doc": ["案三"]}))


def without(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != field}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (without(CHAIN, "prompt_template"), r"loong\.jsonl:2: prompt_template"),
        (CITATIONS, r"loong\.jsonl: id loong-3 appears twice"),
        ({**CHAIN, "doc": ["9901.00009.md"]}, r"loong\.jsonl:2: doc: .*9901\.00009\.md does not exist"),
        ({**SPOTLIGHT, "doc": ["Nowhere Ltd"]}, r"loong\.jsonl:2: doc: .*\*2024-Nowhere Ltd\*\.txt"),
    ],
)
def test_a_bad_line_is_named_with_its_field(tmp_path: Path, bad: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_loong(write(tmp_path, CITATIONS, bad))


def test_an_empty_document_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, CITATIONS)
    (folder / "doc/paper/9901.00001.md").write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match=r":1: doc: .*9901\.00001\.md is empty"):
        load_loong(folder)
