import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval.datasets.nq_open_oracle import load_nq_open_oracle

LINES = Path(__file__).parents[1] / "fixtures" / "nq_open_oracle" / "nq-open-oracle.jsonl"


def changed(folder: Path, change: Callable[[Any], None]) -> Path:
    rows = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    change(rows)
    path = folder / LINES.name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_questions_on_one_paragraph_share_its_document() -> None:
    benchmark = load_nq_open_oracle(LINES)
    assert [sample.documents for sample in benchmark.samples] == [("nq-0",), ("nq-0",), ("nq-2",), ("nq-3",)]
    assert list(benchmark.documents) == ["nq-0", "nq-2", "nq-3"]
    assert benchmark.documents["nq-2"].text.startswith("# The Blue Ferry\n\nThe Blue Ferry is a painting")
    assert benchmark.samples[0].short_answers == (("140 km", "140 kilometres"),)


def test_gold_is_where_an_answer_stands() -> None:
    benchmark = load_nq_open_oracle(LINES)
    [gold] = benchmark.samples[1].gold
    assert gold.label == "Orre"
    assert [place.span.of(benchmark.documents["nq-0"].text) for place in gold.anywhere] == ["near Vellby"]
    assert benchmark.dropped == {}


def other_answer(rows: Any) -> None:
    rows[3]["answers"] = ["eighteen eighty-eight"]


def test_without_the_answer_the_gold_is_the_paragraph_and_counted(tmp_path: Path) -> None:
    benchmark = load_nq_open_oracle(changed(tmp_path, other_answer))
    [gold] = benchmark.samples[3].gold
    [place] = gold.anywhere
    text = place.span.of(benchmark.documents["nq-3"].text)
    assert text.startswith("The Vellby Theatre opened")
    assert text.endswith("insured it well.")
    assert benchmark.dropped == {"questions whose answer is not in the gold paragraph": 1}
