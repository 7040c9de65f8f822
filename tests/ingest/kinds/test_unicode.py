"""Characters that say the same are found as one, values stay what they are, and no text is changed."""

import pytest

from discorag.generation.calibration import absent_terms, exact_terms
from discorag.schema.answer import AnswerInputs
from discorag.text.folding import fold
from discorag.text.terms import terms
from tests.ingest.kinds.quotes import units
from tests.strategies import chunk_over


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("型番ＡＢＣ－１２３の重量は５ｋｇです。", "ABC-123"),
        ("ﾊﾟｿｺﾝの重さは２キロです。", "パソコン"),
        ("The ofﬁce opens at nine.", "office"),
        ("The AB‑12 weighs 5 ㎏.", "AB-12 kg"),
        ("제품 ＡＢＣ-123의 무게는 5kg이다.", "ABC-123"),
        ("Add 1½ cups.", "1 1/2 cups"),
        ("About 10⁶ planets.", "10^6 planets"),
        ("The lawn has 20 m².", "m^2"),
    ],
)
def test_search_finds_a_text_in_any_form(written: str, asked: str) -> None:
    """Full and half width, ligatures, kinds of hyphens, units in one character, and the forms that converters write."""
    assert set(terms(asked)) <= set(terms(written))


@pytest.mark.parametrize(
    ("written", "other"), [("10⁶", "106"), ("10₂", "102"), ("1½", "11/2"), ("10①", "101"), ("5³", "53"), ("x²", "x2")]
)
def test_no_value_becomes_another_one(written: str, other: str) -> None:
    """NFKC alone would write 106 for 10⁶."""
    assert terms(written) != terms(other)
    assert other not in fold(f"It is {written}.")


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("型番ABC-123の重量は?", "ABC-123"),
        ("型番ＡＢＣ－１２３の重量は？", "ABC-123"),
        ("ABC-123的重量是多少？", "ABC-123"),
        ("ABC-123カメラの重量は?", "ABC-123"),
        ("ABC-123의 무게는?", "ABC-123"),
    ],
)
def test_a_particle_is_no_part_of_a_code(question: str, code: str) -> None:
    """Japanese, Chinese and Korean write it without a space."""
    assert exact_terms(question) == [code]


@pytest.mark.parametrize("question", ["型番ABC-123の重量は?", "型番ＡＢＣ－１２３の重量は？", "ABC‑123"])
def test_a_code_in_another_form_is_not_absent(question: str) -> None:
    """A refusal must not say that no passage mentions it."""
    chunks = (chunk_over("型番ＡＢＣ－１２３の重量は５ｋｇです。"),)
    assert absent_terms(AnswerInputs(query=question, chunks=chunks)) == []
    assert absent_terms(AnswerInputs(query="ABC-124の重量は?", chunks=chunks)) == ["ABC-124"]


def test_the_text_and_its_offsets_stay_as_they_are() -> None:
    """What is quoted are the characters of the file."""
    text = "型番ＡＢＣ－１２３の重量は５ｋｇです。ﾊﾟｿｺﾝは10⁶円です。"
    found = units("a.txt", text)
    assert [unit.body for unit in found] == ["型番ＡＢＣ－１２３の重量は５ｋｇです。", "ﾊﾟｿｺﾝは10⁶円です。"]
    assert [unit.span.of(text) for unit in found] == [unit.body for unit in found]
