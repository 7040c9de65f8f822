import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from discorag.generation.extractive import extract_answer
from discorag.generation.selection import UNCALIBRATED
from discorag.ingest.segment.sentence_table import sentences_of
from discorag.models.packaged import MS_MARCO_MINILM
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Plan
from discorag.text.citations import references, without_references
from discorag.verification.tracing import TracingVerifier
from tests.conftest import EXAMPLES
from tests.inputs import inputs_from, load_inputs, selector_of, with_graph, with_plan

QUESTIONS = [
    ("vitamin-d", "Does vitamin D prevent flu?"),
    ("tides", "Why are some tides higher than others?"),
    ("library-handbook", "When may a fine be waived?"),
    ("zh", "喝绿茶对身体有什么好处？"),
]


async def draft_of(inputs: AnswerInputs, encoder: Encoder) -> list[str]:
    return (await extract_answer(inputs, selector_of(encoder))).value.splitlines()


@pytest.mark.parametrize(("corpus", "query"), QUESTIONS)
async def test_every_sentence_is_a_units_words_and_nothing_else(corpus: str, query: str, encoder: Encoder) -> None:
    inputs = await with_plan(await with_graph(await load_inputs(corpus, query, encoder), encoder), encoder)
    table = await sentences_of(inputs, encoder)
    said = {u.prefix + table.quote(table.passage(i)) for i, u in enumerate(table.sentences)}
    said |= {text for unit in table.sentences for text in (unit.plain, unit.body)}
    lines = await draft_of(inputs, encoder)
    assert lines
    assert {without_references(line, chunks=99) for line in lines} <= said


async def test_sentences_follow_the_plan_also_when_a_person_has_edited_it(encoder: Encoder) -> None:
    inputs = await load_inputs("vitamin-d", "Does vitamin D prevent flu?", encoder)
    edited = replace(
        inputs, plan=Plan(paragraph="Close with [3]. But first [1.9-10], then nothing of [99] or [1.500].")
    )
    cited = [references(line)[0] for line in await draft_of(edited, encoder)]
    assert cited[0].chunk == 3
    assert [(r.chunk, r.first) for r in cited[1:]] == [(1, 9), (1, 10)]


async def test_a_claim_never_comes_without_its_counter_claim(encoder: Encoder) -> None:
    texts = {
        "a": "Coffee reduces the risk of heart disease.",
        "b": "Coffee has no effect on the risk of heart disease.",
    }
    inputs = await inputs_from(texts, "Does coffee reduce the risk of heart disease?", encoder)
    inputs = await with_plan(await with_graph(inputs, encoder), encoder)
    lines = await draft_of(inputs, encoder)
    assert {references(line)[0].chunk for line in lines} == {1, 2}


async def test_a_sentence_that_announces_a_list_comes_with_the_list(encoder: Encoder) -> None:
    handbook = (EXAMPLES / "library-handbook" / "handbook.md").read_text(encoding="utf-8")
    start = handbook.index("A fine may be waived in full")
    section = handbook[start : handbook.index("###", start)]  # short enough for one chunk
    inputs = await inputs_from({"waiver": section}, "When may a fine be waived?", encoder)
    inputs = await with_plan(await with_graph(inputs, encoder), encoder)
    text = without_references("\n".join(await draft_of(inputs, encoder)), chunks=99)
    lines = text.splitlines()
    at = lines.index("A fine may be waived in full if at least one of the following conditions is met.")
    assert lines[at + 1] == "The branch that issued the item was closed without notice on the due date."
    assert lines[at + 4] == "A close relative of the member died during the period of the loan."


async def test_brackets_of_a_source_are_its_own_and_stay(encoder: Encoder) -> None:
    inputs = await inputs_from(
        {"a": "Attention helps in translation [1], as others found [12]."}, "What helps?", encoder
    )
    draft = (await extract_answer(inputs, selector_of(encoder))).value
    assert references(draft) == references("[1.1]")
    answer = (await TracingVerifier(encoder, selector_of(encoder).reranker).verify(inputs, draft)).value
    assert answer.text == "Attention helps in translation [1], as others found [12]."
    assert answer.sentences[0].supported


async def test_stars_and_underscores_that_mean_something_stay(encoder: Encoder) -> None:
    text = "Call __init__ before arr[1] is read, since 2**10 and 3**2 are **not** alike."
    inputs = await inputs_from({"a": text}, "What is called before arr is read?", encoder)
    line = (await draft_of(inputs, encoder))[0]
    assert without_references(line, chunks=1) == text


async def test_a_sentence_that_refers_back_and_an_option_come_with_what_completes_them(encoder: Encoder) -> None:
    text = "Ada Berg built the mill. It had two wheels. However, they broke.\n\nThis Mill Act is old."
    assert await quoted(text, "Use [1.3].", encoder) == [text.split("\n", maxsplit=1)[0]]
    assert await quoted(text, "Use [1.1], then [1.2] and [1.4].", encoder) == [
        "Ada Berg built the mill.",
        "It had two wheels.",
        "This Mill Act is old.",
    ]
    option = "- tries: How often a server is asked before it is given up. **Default:** 4\n- timeout: How long.\n"
    assert await quoted(option, "Use [1.1].", encoder) == [option[2:].split("\n", maxsplit=1)[0]]
    manual = "OPTIONS\n    -n N\n        Ask a server N times. Others wait. The default is 4. It may be 0.\n"
    assert await quoted(manual, "Use [1.3].", encoder) == ["-n N: Ask a server N times. Others wait. The default is 4."]


@pytest.mark.parametrize(
    "text",
    [
        "Is weld free?\n-------------\n\nYes. Read the licence.\n\nBut ask first.\n",
        "Q: Is weld free?\n\nA: Yes. Read the licence.\n\nBut ask first.\n\nQ: Why?\n\nA: So.\n",
    ],
)
async def test_the_beginning_of_an_answer_comes_with_its_question(text: str, encoder: Encoder) -> None:
    [line] = await quoted(text, "Use [1.5].", encoder)
    assert line.removeprefix("Q: ") == "Is weld free? Yes. Read the licence. But ask first."


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


async def quoted(text: str, plan: str, encoder: Encoder) -> list[str]:
    inputs = await inputs_from({"a": text}, "What?", encoder)
    lines = await draft_of(replace(inputs, plan=Plan(paragraph=plan)), encoder)
    answer = (await TracingVerifier(encoder, selector_of(encoder).reranker).verify(inputs, "\n".join(lines))).value
    assert [s.text for s in answer.sentences] == [without_references(line, chunks=9) for line in lines]
    assert all(s.supported for s in answer.sentences)
    for s in answer.sentences:  # what it is read with has a place too
        assert words_of(s.text) <= words_of(" ".join(e.text for e in s.evidence))
    return [s.text for s in answer.sentences]


async def test_code_comes_with_the_sentence_that_introduces_it_and_is_exact(encoder: Encoder) -> None:
    text = "Install it with pip:\n\n    $ pip install weld. Then\n    $ weld[1] --x\n\nIt is small."
    assert await quoted(text, "Use [1.2].", encoder) == [
        "Install it with pip:",
        "`$ pip install weld. Then` `$ weld[1] --x`",
    ]


async def test_rows_turns_and_items_are_read_with_their_headers_speakers_and_headings(encoder: Encoder) -> None:
    table = "Year end          2023      2022\nRevenue          2,018     1,900\nNet income         518       490\n"
    assert await quoted(table, "Use [1.2].", encoder) == ["Revenue, 2023: 2,018; 2022: 1,900."]
    talk = "Ada Berg: Cork costs eleven euros {pause} . Glass costs four.\nBo Lind: Right.\n" * 3
    assert await quoted(talk, "Use [1.1-2].", encoder) == [
        "Ada Berg: Cork costs eleven euros {pause} .",
        "Glass costs four.",
    ]
    assert await quoted(talk, "Use [1.2].", encoder) == ["Ada Berg: Glass costs four."]
    log = "weld 3.0.0 (2024-02-01)\n\n  * Drop support for [old](x) rivets\n\nweld 2.0.0\n\n  * Faster.\n"
    assert await quoted(log, "Use [1.2].", encoder) == ["weld 3.0.0 (2024-02-01): Drop support for [old](x) rivets"]
    manual = "-u     with -l: sort by access time,\n       the newest first of all\n"
    assert await quoted(manual, "Use [1.2].", encoder) == ["-u: with -l: sort by access time, the newest first of all"]


OPTIONS = """\
OPTIONS
       -p, --priority priority
           Specify the priority of the swap device.  priority is a value
           between -1 and 32767.  Higher numbers indicate higher priority.
           See swapon(2) for a full description of swap priorities.

       -s, --summary
           Display swap usage summary by device.  Equivalent to cat
           /proc/swaps.
"""


@pytest.mark.parametrize(
    "said", ["Specify the priority of the swap device.", "priority is a value between -1 and 32767."]
)
async def test_an_option_comes_with_the_sentence_that_holds_its_value(said: str, encoder: Encoder) -> None:
    table = await sentences_of(await inputs_from({"swapon": OPTIONS}, "?", encoder), encoder)
    [i] = [i for i, unit in enumerate(table.sentences) if unit.body == said]
    assert table.quote(table.passage(i)) == (
        "Specify the priority of the swap device. priority is a value between -1 and 32767. "
        "Higher numbers indicate higher priority."
    )


async def test_chinese_is_answered_by_its_words_and_not_by_headings_or_lines_of_navigation(encoder: Encoder) -> None:
    text = (
        "维生素D与健康\n\n维生素D可以通过晒太阳获得。人体皮肤在阳光照射下合成维生素D，这是主要来源。\n\n"
        "二、维生素D缺乏的常见问题及其解决方法\n\n缺乏维生素D会导致佝偻病。成人每天需要600国际单位。\n\n"
        "维生素D网站 上一页 下一页 返回首页\n"
    )
    selector = replace(selector_of(encoder), reranker=Unasked())
    inputs = await inputs_from({"health": text}, "缺乏维生素D会导致什么？", encoder)
    lines = (await extract_answer(inputs, selector)).value.splitlines()
    said = [without_references(line, chunks=1).strip() for line in lines]
    assert said[0] == "缺乏维生素D会导致佝偻病。"
    assert len(said) == UNCALIBRATED
    assert all(line.endswith("。") for line in said)


async def test_chinese_is_ordered_by_a_reranker_of_which_nothing_says_that_it_cannot_read_it(encoder: Encoder) -> None:
    inputs = await inputs_from({"health": "佝偻病很常见。成人每天需要600国际单位。"}, "佝偻病常见吗？", encoder)
    [first, *_] = (await extract_answer(inputs, replace(selector_of(encoder), reranker=Longest()))).value.splitlines()
    assert first.startswith("成人每天")


class Unasked:
    """The packaged reranker, which knows no Chinese and must not be asked."""

    version = MS_MARCO_MINILM.version

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        raise AssertionError(f"{query}: {texts}")


class Longest:
    """A reranker of unknown languages that prefers longer texts."""

    version = "multilingual@1"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return tuple(float(len(text)) for text in texts)
