from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.datasets.asqa import Passages, answer_places, load_asqa_pages, load_asqa_pooled
from eval.errors import DataError
from eval.sample import SourceDocument
from tests.eval.datasets.official import changed, gold_texts

POOLED = Path(__file__).parents[1] / "fixtures/asqa/asqa_eval_pooled.json"


def test_pooled_passages_are_one_corpus_and_lose_their_repeated_title_line() -> None:
    benchmark = load_asqa_pooled(POOLED)
    # 5 questions x 4 passages, of which p103 is named three times and p203 twice: 20 - 2 - 1 = 17.
    assert len(benchmark.documents) == 17
    assert benchmark.samples[1].documents == ("p201", "p202", "p103", "p203")
    assert benchmark.documents["p104"].text.startswith("# Mira Holt\n\nMira Holt (born 1987) is")
    assert benchmark.documents["p202"].text.startswith("# Orre bridge\n\nThe present steel bridge")


def test_gold_is_each_place_of_a_short_answer_in_the_questions_own_passages() -> None:
    benchmark = load_asqa_pooled(POOLED)
    assert gold_texts(benchmark, benchmark.samples[0]) == [
        ("Who won the women's Lantern Cup in 2011?", ["Mira Holt"] * 3),
        ("Who won the men's Lantern Cup in 2011?", ["Tom Ashdown"]),
    ]
    assert [place.doc for place in benchmark.samples[0].gold[0].anywhere] == ["p101", "p104", "p104"]
    # Jonas Pell (question 3) and Friday (question 5) stand in no passage of their questions.
    assert benchmark.dropped == {"pairs whose answer is in no passage": 2}


def test_passages_under_two_ids_with_equal_text_share_the_first(tmp_path: Path) -> None:
    benchmark = load_asqa_pooled(changed("asqa-pooled", tmp_path, [1, "docs", 2, "id"], "p999"))
    assert benchmark.samples[1].documents == ("p201", "p202", "p103", "p203")
    assert "p999" not in benchmark.documents


def test_pages_keep_their_headings_and_lose_their_links() -> None:
    benchmark = load_asqa_pages(POOLED.parent / "pages")
    assert [(s.id, s.documents) for s in benchmark.samples] == [
        ("asqa-1", ("Lantern Cup",)),
        ("asqa-2", ("Orre bridge",)),
    ]
    text = benchmark.documents["Lantern Cup"].text
    assert text.startswith("# Lantern Cup\n\nThe Lantern Cup is a badminton cup")
    assert text.endswith("### Men\n\nIn 2011 Tom Ashdown won his only title.")
    assert [texts for _, texts in gold_texts(benchmark, benchmark.samples[1])] == [["1842"], ["May 1931"]]
    assert benchmark.dropped == {"questions without a page": 3}


def document(text: str) -> SourceDocument:
    return SourceDocument(id="d", title="", text=text)


@pytest.mark.parametrize(
    ("text", "answer", "found"),
    [
        ("They heard THE TIN-WHISTLES.", "the Tin Whistles", ["TIN-WHISTLES"]),
        ("the Lord of the Rings", "Lord of Rings", ["Lord of the Rings"]),
        ("in the U.S. and U.S.", "U.S.", ["U.S", "U.S"]),
        ("part A, a B", "A B", ["B"]),
        ("B of the A, an C", "b of c", ["B of the A, an C"]),
        ("the year 19311", "1931", []),
        ("a plan (C+ or better)", "C+", ["C"]),
        ("Nothing here.", "?", []),
        ("They saw The The live.", "The The", ["The The"]),
    ],
)
def test_answers_are_found_as_whole_words_whatever_their_case_punctuation_and_articles(
    text: str, answer: str, found: list[str]
) -> None:
    assert [place.span.of(text) for place in answer_places([document(text)], [answer])] == found


@given(st.text("ab .-", min_size=1), st.text("ab .-"), st.text("ab .-"))
def test_an_answer_that_stands_between_spaces_is_found(answer: str, before: str, after: str) -> None:
    text = f"{before} {answer} {after}"
    assert bool(answer_places([document(text)], [answer])) == any(c.isalnum() for c in answer)


def test_an_id_for_two_texts_is_refused() -> None:
    passages = Passages()
    assert passages.add("p1", "", " One.\r\n", "here") == "p1"
    assert passages.documents["p1"].text == "One."
    with pytest.raises(DataError, match="here: passage id p1 stands for two texts"):
        passages.add("p1", "", "Two.", "here")
