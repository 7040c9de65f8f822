"""RAMDocs, Summary of a Haystack and ConditionalQA: what is right, what was planted, and on what an answer depends."""

from eval.datasets.conditionalqa import load_conditionalqa
from eval.datasets.ramdocs import load_ramdocs
from eval.datasets.summhay import load_summhay
from tests.eval.datasets.official import FILES, gold_texts
from tests.eval.helpers import FIXTURES

RAMDOCS = load_ramdocs(FIXTURES / FILES["ramdocs"])
SUMMHAY = load_summhay(FIXTURES / FILES["summhay"])
CONDITIONS = load_conditionalqa(FIXTURES / FILES["conditionalqa"])


def test_every_right_value_is_asked_for_and_a_planted_one_that_is_right_is_left_out() -> None:
    river, player, mill = RAMDOCS.samples
    assert river.short_answers == (("98 km",), ("41 km",))
    assert (river.wrong_answers, player.wrong_answers, mill.wrong_answers) == (("120 km",), ("Chess",), ())
    assert [s.strata for s in (river, mill)] == [{"names": "2", "planted": "yes"}, {"names": "1", "planted": "no"}]
    assert RAMDOCS.dropped == {"planted values that are also right": 1}


def test_a_right_value_is_evidence_in_the_documents_that_are_right_about_it_only() -> None:
    river, _, mill = RAMDOCS.samples
    assert gold_texts(RAMDOCS, river) == [("98 km", ["98 km"]), ("41 km", ["41 km"])]
    assert len(river.documents) == 4
    assert len(mill.documents) == 1  # the same text twice


def test_a_topic_is_searched_by_itself_and_an_insight_is_evidence_in_each_document_that_includes_it() -> None:
    late, fare, cast = SUMMHAY.samples
    assert late.documents == fare.documents == ("docA", "docB", "docC", "docD")
    assert cast.documents == ("docE", "docF")
    assert len(late.claims) == 3
    assert [places for _, places in gold_texts(SUMMHAY, late)] == [
        [
            "In January, ice in the harbour delays it by 40 minutes.",
            "Ice delays the ferry by 40 minutes each January.",
        ],
        ["The pier of Lanse takes only one ship at a time."],
    ]
    assert SUMMHAY.dropped == {"insights that no document includes": 1}


def test_each_answer_has_its_conditions_and_the_situation_is_part_of_the_question() -> None:
    allowance, rate, museum, bells = CONDITIONS.samples
    assert allowance.query == "I have lived on my boat in Lanse since spring. Can I get a Mooring Allowance?"
    licence = "You must have had a licence for the boat for at least 2 years."
    assert allowance.conditions == ((licence, "the boat is your only home"),)
    assert bells.short_answers == (("yes",), ("no",))
    assert bells.conditions == (("You need a licence to ring bells before 8am.",), ())
    kinds = ["conditional", "plain", "unanswerable", "conditional"]
    assert [s.strata["kind"] for s in CONDITIONS.samples] == kinds
    assert [s.answerable for s in CONDITIONS.samples] == [True, True, False, True]
    assert gold_texts(CONDITIONS, rate) == [("evidence", ["| Up to 10 metres | £12 |"])]
    assert (museum.gold, CONDITIONS.dropped) == ((), {"evidence that is not on the page": 1})


def test_a_condition_is_evidence_wherever_the_page_has_it() -> None:
    licence = "You must have had a licence for the boat for at least 2 years."
    assert gold_texts(CONDITIONS, CONDITIONS.samples[0]) == [
        ("evidence", ["You could get a Mooring Allowance if you live on a boat."]),
        ("condition", [licence, licence]),
        ("condition", ["- the boat is your only home"]),
    ]


def test_a_page_is_markdown_with_its_headings_rows_and_lists_and_only_pages_that_are_asked_are_kept() -> None:
    assert [document.title for document in CONDITIONS.documents.values()] == [
        "Mooring Allowance",
        "Bell Ringing Licence",
    ]
    text = next(iter(CONDITIONS.documents.values())).text
    assert text.startswith("# Mooring Allowance\n\n## Overview\n\nYou could")
    assert "### What you’ll get" in text
    assert "| Up to 10 metres | £12 |\n| Longer | £17.50 |" in text
    assert text.count("\n- ") == 2
    assert "fees & taxes" in text
