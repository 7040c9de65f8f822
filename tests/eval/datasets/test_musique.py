from pathlib import Path

from eval.datasets.musique import load_musique

QUESTIONS = Path(__file__).parents[1] / "fixtures" / "musique" / "musique_tiny.jsonl"


def test_paragraphs_of_one_title_are_told_apart_and_equal_ones_shared() -> None:
    benchmark = load_musique(QUESTIONS)
    first, second = benchmark.samples
    assert first.documents[:2] == ("Mira Holt", "Rook Club")
    assert first.documents[2].startswith("Rook Club [")
    assert second.documents == ("Rook Club", "Void")
    assert benchmark.documents["Rook Club"].text == "# Rook Club\n\nThe club meets on Mondays."
    assert benchmark.documents[first.documents[2]].text == "# Rook Club\n\nOtto Pell founded the Rook Club."
    assert all(document.parts == () for document in benchmark.documents.values())


def test_every_supporting_paragraph_is_gold_without_its_heading() -> None:
    benchmark = load_musique(QUESTIONS)
    sample = benchmark.samples[0]
    found = [
        (gold.label, place.doc, place.span.of(benchmark.documents[place.doc].text))
        for gold in sample.gold
        for place in gold.anywhere
    ]
    assert found == [
        ("Mira Holt", "Mira Holt", "Mira Holt joined the Rook Club."),
        ("Rook Club", sample.documents[2], "Otto Pell founded the Rook Club."),
    ]


def test_a_blank_supporting_paragraph_is_counted() -> None:
    assert load_musique(QUESTIONS).dropped == {"supporting paragraph is blank": 1}


def test_aliases_are_accepted_beside_the_answer_each_once() -> None:
    first, second = load_musique(QUESTIONS).samples
    assert (first.references, first.short_answers) == (("Otto Pell",), (("Otto Pell", "O. Pell"),))
    assert second.short_answers == (("1910",),)


def test_hops_and_answerability_are_kept() -> None:
    assert [(sample.strata, sample.answerable) for sample in load_musique(QUESTIONS).samples] == [
        ({"hops": "2hop"}, True),
        ({"hops": "3hop"}, False),
    ]
