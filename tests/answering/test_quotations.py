"""Words that a model quotes are found where the text has them, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.answering.quotations import fold, locate
from tests.strategies import texts

PUNCTUATION = " .,;:!?…\"'-"
TALK = "User Interface: can they ?\n\nProject Manager: Because it hurts\n\nMarketing: they will be bored after a while"


def found(quotation: str, text: str) -> list[str]:
    return [span.of(text) for span in locate(quotation, text)]


@pytest.mark.parametrize(
    ("quotation", "text", "expected"),
    [
        ("the hall is dry", "So the hall\n  is dry.", ["the hall\n  is dry"]),
        ("Smith & Sons", "by Smith &amp; Sons.", ["Smith &amp; Sons"]),
        ("Smith &amp; Sons", "by Smith & Sons.", ["Smith & Sons"]),
        ("He said &quot;no&quot; twice", "He said “no” twice", ["He said “no” twice"]),
        ("it's 1990-1995", "So it’s 1990–1995.", ["it’s 1990–1995"]),
        ('said "no"', 'He said "no" twice.', ['said "no"']),
        ('"He said "no""', 'He said "no" twice.', ['He said "no']),
        ("“the hall is dry.”", "so the hall is dry, he said", ["the hall is dry"]),
        ("The Hall", "in the hall", ["the hall"]),
        ("very important point", "a **very important** point", ["very important** point"]),
        ("coordination is hard", "co\u00ad\nordination is hard", ["co\u00ad\nordination is hard"]),
        ("the cafe\u0301 closed", "the café closed", ["the café closed"]),
        (
            "It was built ... and fell in 1990",
            "It was built in 1904 and fell in 1990.",
            ["It was built", "and fell in 1990"],
        ),
        ("It was built […] in 1990", "It was built in 1904 and fell in 1990.", ["It was built", "in 1990"]),
        ("…and fell in 1990", "It was built in 1904 and fell in 1990.", ["and fell in 1990"]),
        ("he paused... then left", "he paused... then left", ["he paused... then left"]),
        ("or if you say , I think", "or if you {vocalsound} say ,\nI think", ["or if you {vocalsound} say ,\nI think"]),
        ("it does not {disfmarker} it has a", "Yes , it does not it has a", ["it does not it has a"]),
        ("Can they ? Because it hurts", TALK, ["can they ?\n\nProject Manager: Because it hurts"]),
        ("User Interface: can they ?", TALK, ["User Interface: can they ?"]),
        ("can they ?\nbe bored after", TALK, ["can they ?", "be bored after"]),
        ("公司营业收入增长", "本期公司营业\n收入增长百分之三", ["公司营业\n收入增长"]),
        ("营业收入……百分之三", "公司营业收入增长百分之三。", ["营业收入", "百分之三"]),
        ("ＡＢＣ１２３", "code ABC123 holds", ["ABC123"]),
    ],
)
def test_a_quotation_is_found_whatever_its_spelling(quotation: str, text: str, expected: list[str]) -> None:
    assert found(quotation, text) == expected


@pytest.mark.parametrize(
    ("quotation", "text"),
    [
        ("grew by 12", "grew by 120"),
        ("grew by 12", "grew by 12.5 %"),
        ("2.5 percent", "12.5 percent"),
        ("5 percent", "1,5 percent"),
        ("the rapist", "therapist"),
        ("form", "information"),
        ("did lower the risk", "did not lower the risk"),
        ("vitamin D lowered risks", "vitamin D lowered risk"),
        ("fell in 1990 ... was built", "It was built in 1904 and fell in 1990."),
        ("it ... fell", "It was built in 1904 and fell."),
        ("23", "2*3"),
        ("Height: 20 m", "Width: 20 m\nDepth: 30 m"),
        ("three four six five", "three four five six"),
        ("...", "Well... no."),
        ("", "Something."),
        ("。", "结束。"),
        ("营业收入……增长", "公司营业收入增长百分之三。"),
    ],
)
def test_a_near_miss_is_not_found(quotation: str, text: str) -> None:
    assert found(quotation, text) == []


@given(texts, st.data())
def test_what_is_found_in_any_text_differs_only_in_what_carries_no_meaning(text: str, data: st.DataObject) -> None:
    words = text.split()
    first = data.draw(st.integers(0, max(len(words) - 1, 0)))
    quotation = " ".join(words[first : first + 5])
    spans = locate(quotation, text)
    assert list(spans) == sorted(spans, key=lambda s: s.start)
    if len(spans) == 1:
        assert fold(spans[0].of(text)).text.strip(PUNCTUATION) == fold(quotation).text.strip(PUNCTUATION)


@given(st.lists(st.text(st.characters(categories=["Ll", "Lu"]), min_size=1), min_size=1), st.data())
def test_words_between_white_space_are_always_found(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    (span,) = locate(" ".join(words[first:last]), "\n".join(words))
    assert fold(span.of("\n".join(words))).text == fold(" ".join(words[first:last])).text
