from pathlib import Path

from eval.datasets.musique import load_musique
from tests.eval.datasets.official import gold_texts

BENCHMARK = load_musique(Path(__file__).parents[1] / "fixtures" / "musique" / "musique_tiny.jsonl")


def test_paragraphs_of_one_title_are_told_apart_and_equal_ones_shared() -> None:
    first, second = BENCHMARK.samples
    assert first.documents[:2] == ("Mira Holt", "Rook Club")
    assert first.documents[2].startswith("Rook Club [")
    assert second.documents == ("Rook Club", "Void")
    assert BENCHMARK.documents["Rook Club"].text == "# Rook Club\n\nThe club meets on Mondays."
    assert BENCHMARK.documents[first.documents[2]].text == "# Rook Club\n\nOtto Pell founded the Rook Club."
    assert all(document.parts == () for document in BENCHMARK.documents.values())


def test_every_supporting_paragraph_is_gold_without_its_heading_and_blank_ones_are_counted() -> None:
    assert gold_texts(BENCHMARK, BENCHMARK.samples[0]) == [
        ("Mira Holt", ["Mira Holt joined the Rook Club."]),
        ("Rook Club", ["Otto Pell founded the Rook Club."]),
    ]
    assert BENCHMARK.dropped == {"supporting paragraph is blank": 1}


def test_aliases_are_accepted_each_once_and_hops_and_answerability_are_kept() -> None:
    first, second = BENCHMARK.samples
    assert (first.references, first.short_answers) == (("Otto Pell",), (("Otto Pell", "O. Pell"),))
    assert second.short_answers == (("1910",),)
    assert [(s.strata, s.answerable) for s in (first, second)] == [({"hops": "2hop"}, True), ({"hops": "3hop"}, False)]
