import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.text.sentences import language_of, sentence_spans


def split(text: str) -> list[str]:
    return [span.of(text) for span in sentence_spans(text)]


TRICKY = st.text(st.sampled_from('aB. 。！？\n\t,1)[]*-|$!"”“’(éé😀你\u3000\u2028\x0b\x1c\r'), max_size=200)


@given(st.one_of(st.text(max_size=300), TRICKY))
def test_sentences_are_stripped_disjoint_ordered_and_hold_every_visible_character(text: str) -> None:
    at = 0
    for span in sentence_spans(text):
        assert not text[at : span.start].strip()
        assert span.of(text) == span.of(text).strip()
        at = span.end
    assert not text[at:].strip()


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith saw, e.g., Jones et al. (2020) and Fig. 2 vs. No. 5.",
        "We follow Eq. (3), Sec. 2, Figs. 3 and Tab. 1 here.",
        "Smith et al. [3] showed it in Eqs. 4 and 5.",
        "It costs approx. 5 dollars at 3.5 per unit.",
        "The U.S. Army met A. B. Jones on Jan. 5, 1999.",
        "See https://doi.org/10.18653/v1/2020.emnlp-main.165 for more.",
        "1. First of all.",
        "A line that goes\non in the next.",
        "An image ![alt](a.png) in text.",
        "It is left out, or taken in by a `!` rule of the file.",
        "It is so:\n$$\nC = x. Then\n\\end .\n$$\nwhere x holds.",
    ],
)
def test_abbreviations_numbers_and_formulas_do_not_end_a_sentence(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It is shown in Fig. 3.", "Then it ends.", "Yes!", "Is it?"],
        ['He said "I am."', "Then he left."],
        ["**Note.**", "Open the app.", "Then start."],
        ["It is known [4].", "The next is not."],
        ["他说：“你好。”", "然后走了。", "真的吗？", "是的！", "好"],
        ["他用 Python 3.11 写程序。", "Then he left.", "完了。"],
        ["See Refs. 4.", "Vol. 3 follows."],
    ],
)
def test_sentence_ends_are_found(sentences: list[str]) -> None:
    assert split(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    "lines",
    [
        ["- item one", "- item two", "  goes on", "* third", "+ fourth", "• fifth"],
        ["1. 你好", "2. 再见", "（三）第三", "四、第四"],
        ["(a) one", "(b) two", "c) three"],
        ["| a | b |", "| 1 | 2 |"],
        ["Heading without stop", "Text starts here", "1 apple"],
        ["第一节", "本行及全体成员保证内容真实", "第三"],
    ],
)
def test_list_items_rows_and_unwrapped_lines_are_sentences_of_their_own(lines: list[str]) -> None:
    text = "\n".join(lines)
    expected = text.replace("\n  ", "\u0000").split("\n")
    assert split(text) == [line.replace("\u0000", "\n  ") for line in expected]


def test_neither_a_wrapped_line_nor_the_window_of_the_splitter_breaks_a_sentence() -> None:
    text = "A queen emerges about sixteen days after the egg is laid in\nGermany and other lands of\nthe north."
    assert split(text) == [text]
    sentences = [f"Sentence number {i} is here." for i in range(1000)]
    assert split(" ".join(sentences)) == sentences
    long = "word " * 3000 + "end."
    assert split(f"{long} Next one.") == [long, "Next one."]


def test_language_is_chinese_from_three_in_ten_letters_on() -> None:
    assert language_of("你好吗 abcdefg") == "zh"
    assert language_of("你好 abcdefgh") == "en"
    assert language_of("123 ...") == "en"
