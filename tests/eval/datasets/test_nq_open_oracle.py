from pathlib import Path

from eval.datasets.nq_open_oracle import load_nq_open_oracle
from tests.eval.datasets.official import changed, gold_texts

BENCHMARK = load_nq_open_oracle(Path(__file__).parents[1] / "fixtures" / "nq_open_oracle" / "nq-open-oracle.jsonl")


def test_questions_on_one_paragraph_share_its_document() -> None:
    assert [sample.documents for sample in BENCHMARK.samples] == [("nq-0",), ("nq-0",), ("nq-2",), ("nq-3",)]
    assert list(BENCHMARK.documents) == ["nq-0", "nq-2", "nq-3"]
    assert BENCHMARK.documents["nq-2"].text.startswith("# The Blue Ferry\n\nThe Blue Ferry is a painting")
    assert BENCHMARK.samples[0].short_answers == (("140 km", "140 kilometres"),)


def test_gold_is_where_an_answer_stands() -> None:
    assert gold_texts(BENCHMARK, BENCHMARK.samples[1]) == [("Orre", ["near Vellby"])]
    assert BENCHMARK.dropped == {}


def test_without_the_answer_the_gold_is_the_paragraph_and_counted(tmp_path: Path) -> None:
    benchmark = load_nq_open_oracle(changed("nq-open-oracle", tmp_path, [3, "answers"], ["eighteen eighty-eight"]))
    [(_, [text])] = gold_texts(benchmark, benchmark.samples[3])
    assert text.startswith("The Vellby Theatre opened")
    assert text.endswith("insured it well.")
    assert benchmark.dropped == {"questions whose answer is not in the gold paragraph": 1}
