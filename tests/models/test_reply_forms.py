"""Replies as models write them: thinking, forms of citations and of JSON. Nothing is lost, and nothing is shown raw."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from discorag import AskResult, DiscoRAG
from tests.conftest import Pipelines
from tests.graphs.scripts import at_odds, in_one_reply, passages_in, turn_of
from tests.servers.scripted import Body, Scripted, ScriptedServer

QUESTION = "How much may the van weigh, and how much does its tank hold?"
TEXTS = {
    "van.md": "The van may weigh 3.5 t and is 6 m long. Section [2] of the statute says so, see a note[^2].",
    "tank.md": "The tank of the van holds 70 litres. It was filled in 1945.",
}
VAN, TANK = "The van may weigh 3.5 t", "The tank of the van holds 70 litres"
TEXT = f"{VAN}. {TANK}."
ANSWER = f"{VAN} [V]. {TANK} [T]."
"""V and T are replaced by the numbers that the two passages have in the prompt."""


@dataclass
class Model:
    """A model that always gives the same reply to a turn in ``replies``, and a good one to the others."""

    replies: dict[str, Scripted | str] = field(default_factory=dict[str, Scripted | str])
    asked: list[str] = field(default_factory=list[str])
    van_is_first: bool = True

    def __call__(self, body: Body) -> Scripted | str:
        turn = turn_of(body)
        self.asked.append(turn)
        statements, answer = self.replies.get("statements", at_odds(body)), self.replies.get("answer", ANSWER)
        reply = in_one_reply(statements, answer) if turn == "both" else answer
        reply = reply if isinstance(reply, Scripted) else Scripted(reply)
        self.van_is_first = van_is_first(body)
        return Scripted(numbered(reply.text or "", self.van_is_first), finish_reason=reply.finish_reason)


def van_is_first(body: Body) -> bool:
    return "3.5 t" in passages_in(body)[1]


def numbered(text: str, is_first: bool) -> str:
    return re.sub(r"(?<![A-Zabd-z])[VT](?![A-Za-z])", lambda m: "1" if (m[0] == "V") == is_first else "2", text)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def server(model: Model) -> Iterator[ScriptedServer]:
    with ScriptedServer(model) as server:
        yield server


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def opened(shared_pipeline: Pipelines, server: ScriptedServer, texts: Path) -> DiscoRAG:
    rag = shared_pipeline(llm=server.base_url)
    rag.ingest(texts)
    return rag


@pytest.fixture
def rag(opened: DiscoRAG, model: Model) -> DiscoRAG:
    model.asked.clear()
    return opened


@pytest.fixture
def new_rag(pipeline: Pipelines, server: ScriptedServer, texts: Path) -> DiscoRAG:
    """A pipeline that has learned nothing of its model yet."""
    rag = pipeline(llm=server.base_url)
    rag.ingest(texts)
    return rag


async def ask(rag: DiscoRAG, model: Model, **options: Any) -> tuple[str, AskResult]:
    """Return what was streamed, with a mark for each restart, and the result."""
    replies = {k: v for k, v in options.items() if k in ("answer", "statements")}
    model.replies = replies
    rest = {"abstain": "never"} | {k: v for k, v in options.items() if k not in replies}
    events: AsyncIterator[Any] = rag.astream(QUESTION, **rest)
    streamed, result = "", None
    async for event in events:
        if isinstance(event, AskResult):
            result = event
        elif event.get("event") in ("token", "restart"):
            streamed += event.get("token", "\n<restart>\n")
    assert result
    return streamed, result


def citations(result: AskResult, model: Model) -> list[list[str]]:
    """The letters that the sentences of the draft cite."""
    sentences = re.split(r"(?<=[.\]])\s+(?=The)", result.draft)
    letters = "VT" if model.van_is_first else "TV"
    return [[letters[int(n) - 1] for n in re.findall(r"(?<!\\)\[(\d)\]", s)] for s in sentences]


THINKING = {
    "tags": f"<think>Passage 1 says it, [7] may too.</think>\n{ANSWER}",
    "an empty block": f"<think>\n\n</think>\n\n{ANSWER}",
    "capitals": f"<Thinking>It is [9].</Thinking>{ANSWER}",
    "thought": f"<thought>It is [9].</thought>{ANSWER}",
    "reasoning": f"<reasoning>\nFirst, [9].\n</reasoning>\n\n{ANSWER}",
    "with answer tags": f"<think>It is [9].</think><answer>{ANSWER}</answer>",
    "square": f"[THINK]It is [9].[/THINK]{ANSWER}",
    "triangles": f"◁think▷It is [9].◁/think▷{ANSWER}",
    "between bars": f"<|START_THINKING|>It is [9].<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
    "channels": (
        "<|channel|>analysis<|message|>We need [9].<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>"
    ),
    "unused tokens": f"<unused94>thought\nIt is [9].<unused95>{ANSWER}",
    "two blocks": f"<think>The van.</think>{VAN} [V]. <think>The tank.</think>{TANK} [T].",
    "an end token": f"{ANSWER}<|im_end|>",
}
_ONE = (
    "【V】", "［V］", "〔V〕", "⟦V⟧", " [^V]", "[^V^]", " [Passage V]", " [passage V]", " [Source V]", " [Source: V]",
    " [chunk V]", " [chunk_V]", " [Doc. V]", " [#V]", " [cV]", ' [id="V"]', " [chunk id=V]", " (passage V)",
    " (see Passage V)", " (source V)", " (Source: [V])", " ([V])", " [[V]]", r" \[V\]", " [V](#source-V)", " **[V]**",
    " *[V]*", " `[V]`", "<sup>V</sup>", "<sup>[V]</sup>", "<cite>V</cite>", " (V)", "（V）", " {V}", " [ V ]",
    "【V†source】", "【V†L3-L5】", " [Quelle V]", "（来源V）", " (cf. [V])", " ^[V]", " CHUNK[V]", " [ref. V]",
)  # fmt: skip
_BOTH = (
    " [V, T]", " [V,T]", " [V; T]", " [V and T]", " [V & T]", " [V/T]", " [V], [T]", " [V]; [T]", " [Passages V and T]",
    " [Passage V, Passage T]", " [Passage V][Passage T]", "【V】【T】", "【V, T】", " [^V][^T]", " (V, T)",
    " (passages V and T)", " ([V], [T])", " ([V] and [T])", "<sup>V,T</sup>", " [V, and T]",
)  # fmt: skip
AFTER_THE_STOP = {
    "a space": f"{VAN}. [V] {TANK}. [T]",
    "none": f"{VAN}.[V] {TANK}.[T]",
    "its own line": f"{VAN}.\n[V]\n\n{TANK}.\n[T]",
    "a list of sources": f"{ANSWER}\n\nSources:\n[V] The van\n[T] The tank",
    "a bold list of sources": f"{ANSWER}\n\n**Sources:**\n- [V] van.md\n- [T] tank.md",
}
WRAPPED = {
    "fence": f"```\n{ANSWER}\n```",
    "JSON": json.dumps({"answer": ANSWER}),
    "fenced JSON": f"```json\n{json.dumps({'answer': ANSWER}, indent=2)}\n```",
    "JSON with a comma too many": f'{{"answer": "{ANSWER}",}}',
    "JSON with sources": json.dumps({"response": ANSWER, "sources": [1, 2]}),
    "bold label": f"**Answer:** {ANSWER}",
}
TWO = {
    **{f"thinking, {name}": reply for name, reply in THINKING.items()},
    **{f"one{form}": f"{VAN}{form}. {TANK}{form.replace('V', 'T')}." for form in _ONE},
    **{f"after the stop, {name}": reply for name, reply in AFTER_THE_STOP.items()},
    **{f"wrapped, {name}": reply for name, reply in WRAPPED.items()},
}
RAW = re.compile(r"think|\[9\]|<|[{}【】［］〔〕⟦⟧†`]|\(V|\[\^|passage \d|Source", re.IGNORECASE)


@pytest.mark.parametrize("reply", TWO.values(), ids=TWO)
async def test_a_reply_in_any_form_gives_the_same_sentences_and_citations_and_nothing_raw_is_shown(
    rag: DiscoRAG, model: Model, reply: str
) -> None:
    streamed, result = await ask(rag, model, preset="standard", answer=reply)
    assert result.answer.text == TEXT
    assert citations(result, model) == [["V"], ["T"]]
    assert len(model.asked) == 1
    assert RAW.findall(streamed.replace("<restart>", "")) == []


AFTER_STATEMENTS = {name: reply for name, reply in TWO.items() if name.startswith(("after", "wrapped", "one ["))}


@pytest.mark.parametrize("reply", AFTER_STATEMENTS.values(), ids=AFTER_STATEMENTS)
async def test_an_answer_behind_its_statements_may_have_any_form_too(rag: DiscoRAG, model: Model, reply: str) -> None:
    streamed, result = await ask(rag, model, answer=reply)
    assert result.answer.text == TEXT
    assert citations(result, model) == [["V"], ["T"]]
    assert model.asked == ["both"]
    assert RAW.findall(streamed.replace("<restart>", "")) == []


@pytest.mark.parametrize("form", _BOTH)
async def test_several_passages_in_one_pair_of_brackets_are_all_cited(rag: DiscoRAG, model: Model, form: str) -> None:
    streamed, result = await ask(rag, model, preset="standard", answer=f"{VAN}{form}.")
    assert result.answer.text == f"{VAN}."
    assert citations(result, model) == [["V", "T"]]
    assert RAW.findall(streamed.replace("<restart>", "")) == []


NONE = (
    "[2] of the statute says so.",
    "Under [2] of the statute it is so.",
    "It was filled in 1945 (1945).",
    "It was filled in [1945].",
    "Table [1] shows it.",
    "There is a note[^2].",
    "Do (1) this and (2) that.",
    "See [1](https://example.org/1) for it.",
    "Read [the report](https://example.org) first.",
    "Call `a[1]` first.",
    "Then a[1] = 2 holds.",
    "Use `x[1, 2]` here.",
    "It is in the interval [1, 2] at most.",
    "It is in [0, 1] at most.",
    "It calls f(1).",
    "It is 3 m² wide.",
    "They wrote [sic] so.",
)


@pytest.mark.parametrize("words", NONE)
async def test_a_number_in_brackets_that_is_no_citation_stays_a_word(rag: DiscoRAG, model: Model, words: str) -> None:
    _, result = await ask(rag, model, preset="standard", answer=f"{VAN} [V]. {words}")
    assert [s.text for s in result.answer.sentences] == [f"{VAN}.", words]
    assert len(model.asked) == 1


@pytest.mark.parametrize("words", ["It has a much shorter version", "It is said in the same note", "Each has its page"])
async def test_a_number_behind_a_thing_that_is_described_is_a_citation(rag: DiscoRAG, model: Model, words: str) -> None:
    _, result = await ask(rag, model, preset="standard", answer=f"{VAN} [V]. {words} [T].")
    assert [s.text for s in result.answer.sentences] == [f"{VAN}.", f"{words}."]
    assert [len(s.citations) for s in result.answer.sentences] == [1, 1]


async def test_a_list_marker_is_no_citation(rag: DiscoRAG, model: Model) -> None:
    _, result = await ask(rag, model, preset="standard", answer=f"(1) {VAN} [V].\n(2) {TANK} [T].")
    assert [s.text for s in result.answer.sentences] == [f"(1) {VAN}.", f"(2) {TANK}."]


CLOSED_ALONE = {
    "text": f"Let me think about [9].</think>{ANSWER}",
    "glued": f"analysisWe need [9].assistantfinal{ANSWER}",
}


@pytest.mark.parametrize("reply", CLOSED_ALONE.values(), ids=CLOSED_ALONE)
async def test_thinking_with_only_a_closing_tag_is_withdrawn_once_and_later_not_shown(
    new_rag: DiscoRAG, model: Model, reply: str
) -> None:
    streamed, result = await ask(new_rag, model, preset="standard", answer=reply)
    assert result.answer.text == TEXT
    assert "[9]" not in streamed.rpartition("<restart>")[2]
    streamed, result = await ask(new_rag, model, preset="standard", answer=reply)
    assert (result.answer.text, "[9]" in streamed) == (TEXT, False)


@pytest.mark.parametrize("text", ["<think>The van and its", None])
async def test_a_model_whose_thinking_used_up_its_tokens_is_asked_again_with_room_for_it(
    pipeline: Pipelines, texts: Path, text: str | None
) -> None:
    def respond(body: Body) -> Scripted:
        is_first = len(server.requests) == 1
        again = f"<think>It is [9].</think>{VAN} [1]."
        return Scripted(text, finish_reason="length") if is_first else Scripted(again)

    with ScriptedServer(respond) as server:
        rag = pipeline(llm=server.base_url)
        rag.ingest(texts)
        result = await rag.aask(QUESTION, preset="standard", abstain="never")
    first, again = (body["max_completion_tokens"] for body in server.requests)
    assert again > first + 1000
    assert result.answer.text == f"{VAN}."


ROWS = json.dumps(
    {
        "statements": [
            {
                "id": 1,
                "says": "Weight",
                "role": "answers",
                "quotations": [{"passage": 1, "text": "may weigh 3.5 t"}],
            },
            {"id": 2, "says": "Tank", "role": "answers", "quotations": [{"passage": 2, "text": "holds 70 litres"}]},
        ],
        "relations": [{"from": 2, "relation": "SUPPORTS", "to": 1, "about": ""}],
        "order": [[1], [2]],
        "missing": "",
    }
)
STATEMENTS = {
    "fence": f"```json\n{ROWS}\n```",
    "fence without a name": f"```\n{ROWS}\n```",
    "prefix": f"Here is the overview:\n{ROWS}",
    "prefix with brackets": f"As [1] and {{2}} show:\n{ROWS}",
    "remark": f"Sure!\n```json\n{ROWS}\n```\nPassage 2 backs it.",
    "commas": ROWS.replace("}]", "},]"),
    "single quotes": ROWS.replace('"', "'"),
    "comment": ROWS.replace(', "order"', ', // none\n"order"'),
    "curly quotes": re.sub('"(.*?)"', "“\\1”", ROWS),
    "a brace too few": ROWS[:-1],
    "a brace too many": ROWS + "}",
    "a list of one": f"[{ROWS}]",
    "thinking": f"<think>{{}} [1]</think>{ROWS}",
    "thinking that only closes": f"So it is.\n</think>\n\n{ROWS}",
    "tool call": f"<tool_call>\n{ROWS}\n</tool_call>",
}


@pytest.mark.parametrize("reply", STATEMENTS.values(), ids=STATEMENTS)
async def test_statements_are_read_however_their_json_is_spelled(rag: DiscoRAG, model: Model, reply: str) -> None:
    _, result = await ask(rag, model, statements=reply)
    assert result.graph is not None
    assert [e.relation for e in result.graph.edges] == ["SUPPORTS"]
    assert citations(result, model) == [["V"], ["T"]]
    assert model.asked == ["both"]


PARTS = (
    f"The passages do not say who drives the van. {VAN}.",
    f"The passages do not say who drives the van, but {VAN[0].lower()}{VAN[1:]} [V].",
    f"The passages do not mention its colour [V]. {VAN} [V].",
)


@pytest.mark.parametrize("reply", PARTS)
async def test_an_answer_to_a_part_is_an_answer(rag: DiscoRAG, model: Model, reply: str) -> None:
    _, result = await ask(rag, model, preset="standard", answer=reply, abstain="auto")
    assert result.answer.abstained == ""
    assert "3.5 t" in result.answer.text
