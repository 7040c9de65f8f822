"""NarrativeQA, TriviaQA, QAMPARI and ELI5 in the forms in which they are passed on."""

from eval.datasets.alce import load_eli5, load_qampari
from eval.datasets.narrativeqa import load_narrativeqa
from eval.datasets.triviaqa import load_triviaqa
from tests.eval.helpers import FIXTURES

NARRATIVE = FIXTURES / "narrativeqa/narrativeqa.jsonl"
TRIVIA = FIXTURES / "triviaqa/retrieved_pooled.jsonl"
QAMPARI = FIXTURES / "qampari/qampari_eval_gtr_top100.json"
ELI5 = FIXTURES / "eli5/eli5_eval_bm25_top100.json"


def test_questions_about_one_story_share_it() -> None:
    benchmark = load_narrativeqa(NARRATIVE)
    assert [s.documents for s in benchmark.samples] == [("story-1",), ("story-1",), ("story-2",)]
    assert list(benchmark.documents) == ["story-1", "story-2"]
    first = benchmark.samples[0]
    assert first.references == first.short_answers[0]
    assert len(first.references) == 2
    assert benchmark.documents["story-1"].text.startswith("THE LAMP KEEPER\n\nChapter I")


def test_trivia_is_asked_over_the_passages_of_all_questions_and_an_alias_in_the_own_ones_is_evidence() -> None:
    benchmark = load_triviaqa(TRIVIA)
    ferry, builder = benchmark.samples
    assert ferry.documents == ("test_1-0", "test_1-1")
    assert builder.documents == ("test_1-0", "test_2-1")  # the same passage is kept once
    found = {p.span.of(benchmark.documents[p.doc].text) for g in ferry.gold for p in g.anywhere}
    assert {"River Amble", "Amble"} <= found
    assert builder.gold == ()
    assert benchmark.dropped == {"questions whose answer is in none of their passages": 1}


def test_a_list_question_has_one_point_for_each_answer_and_evidence_where_an_alias_stands() -> None:
    benchmark = load_qampari(QAMPARI)
    towns, built = benchmark.samples
    assert towns.short_answers == (("Hollin Ferry", "Hollin"), ("Sedge",), ("Port Amble",))
    assert [g.label for g in towns.gold] == ["Hollin Ferry", "Sedge"]
    assert towns.documents[1] == built.documents[0]
    assert benchmark.dropped == {"answers that are in none of their question's passages": 1}


def test_an_explanation_has_claims_and_a_reference() -> None:
    first, second = load_eli5(ELI5).samples
    assert (first.id, second.id, len(first.claims)) == ("eli5-0", "eli5-1", 3)
    assert first.references[0].startswith("They hang on a chain")
    assert first.documents == ("eli5-0-0", "eli5-0-1")
