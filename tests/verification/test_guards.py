"""Figures, dates, quotations and names are looked up exactly, and paraphrases of them are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.verification.guards import missing_detail

TRIAL = (
    "Trial of tamoril\nFrom 3 October 2021 the Harlow trial gave 412 adults in Norway tamoril. Influenza fell by 12 "
    'percent. "Nobody was harmed", said Dr. Lena Weiss of the World Health Organization. It cost $1,500,000.'
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The incidence fell by 12 % after the trial of October 2021.",
        "In the Harlow trial, Weiss's patients were four hundred and twelve adults.",
        "It cost the city 1.5 million dollars, that is, over 1 million.",
        'By her account "nobody was harmed."',
        "The WHO praised the Norwegian trial.",
        "The trial lasted for one of two winters.",
        "Tamoril is safe for people.",
        "I think that the Trial was good, as Mr Weiss said.",
        "Die Studie fand im Herbst in Bergen statt.",
    ],
)
def test_what_the_evidence_has_in_other_forms_is_found(sentence: str) -> None:
    assert missing_detail(sentence, TRIAL) == ""


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("The incidence fell by 21 %.", "The number 21 % is not in the evidence."),
        ("The trial began on 3 November 2021.", "The date 3 November 2021 is not in the evidence."),
        ("The trial began on 5 October 2021.", "The date 5 October 2021 is not in the evidence."),
        ("The trial was made in 2022.", "The number 2022 is not in the evidence."),
        ("The trial was led by Anna Weiss.", "The name Anna is not in the evidence."),
        ("The NATO is behind the trial.", "The name NATO is not in the evidence."),
        ('Weiss said that "many were harmed" by it.', 'The words "many were harmed" are not in the evidence.'),
        ("412名成人,21例。", "The number 21 is not in the evidence."),
    ],
)
def test_what_the_evidence_lacks_is_named(sentence: str, missing: str) -> None:
    assert missing_detail(sentence, TRIAL) == missing


def test_a_month_may_stand_in_a_numeric_date_and_a_count_may_be_computed() -> None:
    assert missing_detail("It was signed in March 2024.", "Signed: 2024-03-09") == ""
    assert missing_detail("The number of branches fell by 18.", "We closed 21 and opened 3 branches.") == ""


@given(st.text(max_size=80))
def test_no_text_lacks_a_detail_of_its_own(text: str) -> None:
    assert missing_detail(text, text) == ""
