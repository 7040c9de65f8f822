"""Replies to the one call as models write them: none loses statements or answer, and nothing is shown raw.

`tests.models.test_reply_forms` has the forms of citations, and of thinking and JSON by themselves.
"""

import json
import re

import pytest

from discorag.answering.one_call import AnswerWithStatements, answer_in_one_call
from discorag.schema.answer import Outcome
from tests.answering.cases import inputs_over, reader_of, reply, written
from tests.servers.scripted import Scripted, ScriptedServer

SAID = "It did not [1]. A review says it did [2]."
JSON, ANSWER = written(), f"ANSWER: {SAID}"
PRETTY = json.dumps(reply(), indent=2)
QUOTED = "did not lower the risk"
EMPTY = written(statements=[], relations=[], order=[], missing="Everything.")


def with_first(**changes: object) -> str:
    """The reply whose first statement has other parts."""
    first, *others = reply()["statements"]
    return written(statements=[first | changes, *others])


def quoted(passage: str) -> str:
    """The reply whose first quotation names its passage in another form."""
    return with_first(quotations=[{"passage": passage, "text": QUOTED}])


def with_ids(form: str) -> str:
    """The reply whose statements are named in another form wherever they are named."""
    name = {n: form.format(n) for n in (1, 2, 3)}
    statements = [s | {"id": name[s["id"]]} for s in reply()["statements"]]
    relations = [r | {"from": name[r["from"]], "to": name[r["to"]]} for r in reply()["relations"]]
    return written(statements=statements, relations=relations, order=[[name[1]], [name[2], name[3]]])


ODD: dict[str, str] = {
    "thinking before both": f"<think>{{}} ANSWER: no [9]</think>\n{JSON}\n{ANSWER}",
    "thinking between them": f"{JSON}\n<think>Short. [9]</think>\n{ANSWER}",
    "only a closing tag": f'First {{"statements": []}}.\n</think>\n{JSON}\n{ANSWER}',
    "a fence around the JSON": f"```json\n{PRETTY}\n```\n\n{ANSWER}",
    "a fence around both": f"```\n{JSON}\n{ANSWER}\n```",
    "a fence around the answer": f"{JSON}\nANSWER:\n```\n{SAID}\n```",
    "words before": f"Here is the JSON object:\n\n{JSON}\n\nNow the answer.\n\n{ANSWER}",
    "JSON over many lines": f"{PRETTY}\n{ANSWER}",
    "both on one line": f"{JSON} {ANSWER}",
    "JSON after the answer": f"{ANSWER}\n\n{JSON}",
    "fenced JSON after the answer": f"{ANSWER}\n\n```json\n{PRETTY}\n```",
    "the answer within the JSON": json.dumps(reply(answer=SAID)),
    "the answer within the JSON in capitals": json.dumps(reply(ANSWER=SAID)),
    "the answer as an object after it": f"{JSON}\n{json.dumps({'answer': SAID})}",
    "an object behind the mark": f"{JSON}\nANSWER: {json.dumps({'answer': SAID})}",
    "a heading": f"{JSON}\n\n## Answer\n\n{SAID}",
    "a bold heading": f"{JSON}\n\n**Answer**\n\n{SAID}",
    "a mark in small letters": f"{JSON}\nanswer: {SAID}",
    "a label": f"{JSON}\n**Final answer:** {SAID}",
    "tags": f"{JSON}\n<answer>{SAID}</answer>",
    "German": f"{JSON}\nANTWORT: {SAID}",
    "Chinese": f"{JSON}\n答案：{SAID}",
    "two marks": f"{JSON}\nANSWER:\nANSWER: {SAID}",
    "no mark": f"{JSON}\n\n{SAID}",
    "trailing commas": f"{JSON.replace('}]', '},]').replace(']]', '],]')}\n{ANSWER}",
    "smart quotes": re.sub('"(.*?)"', "“\\1”", JSON) + f"\n{ANSWER}",
    "single quotes": JSON.replace('"', "'") + f"\n{ANSWER}",
    "line breaks in strings": JSON.replace("did not lower the risk of", "did not lower\nthe risk of") + f"\n{ANSWER}",
    "comments": JSON.replace(', "order"', ', // the plan\n"order"') + f"\n{ANSWER}",
    "a brace too few": f"{JSON[:-1]}\n{ANSWER}",
    "a brace too many": f"{JSON}}}\n{ANSWER}",
    "ids as strings": f"{with_ids('{}')}\n{ANSWER}",
    "ids with letters": f"{with_ids('S{}')}\n{ANSWER}",
    "a passage as a string": f"{quoted('1')}\n{ANSWER}",
    "a passage in brackets": f"{quoted('[1]')}\n{ANSWER}",
    "quotations as strings": f"{with_first(quotations=[QUOTED])}\n{ANSWER}",
    "a quotation alone": f"{with_first(quotations=QUOTED)}\n{ANSWER}",
    "a quotation as an object": f"{with_first(quotations={'passage': 1, 'text': QUOTED})}\n{ANSWER}",
    "a flat order": f"{written(order=[1, 2, 3])}\n{ANSWER}",
    "null for nothing": f"{written(missing=None)}\n{ANSWER}",
    "an end token": f"{JSON}\n{ANSWER}<|im_end|>",
    "an escaped newline before the mark": f"{JSON}\\n{ANSWER}",
}
RAW = re.compile(r"think|\[9\]|[{}<>`#*]|statements|quotations|answer", re.IGNORECASE)


async def answer_to(sent: Scripted | str) -> tuple[str, Outcome[AnswerWithStatements], int, int]:
    """What is shown, the outcome, and the numbers of statements and calls."""
    with ScriptedServer([sent]) as server:
        parts = [part async for part in answer_in_one_call(inputs_over(), reader_of(server))]
    outcome = parts[-1]
    assert isinstance(outcome, Outcome)
    shown = "".join(part for part in parts if isinstance(part, str))
    return shown, outcome, len(outcome.value.collected.graph.statements), len(server.requests)


@pytest.mark.parametrize("sent", ODD.values(), ids=ODD)
async def test_an_odd_reply_loses_nothing_and_shows_nothing_raw(sent: str) -> None:
    shown, outcome, statements, calls = await answer_to(sent)
    assert (outcome.value.text, statements, calls) == (SAID, 3, 1)
    assert len(outcome.value.collected.graph.relations) == 1
    assert RAW.findall(shown) == []


async def test_an_answer_without_statements_is_an_answer() -> None:
    shown, outcome, statements, calls = await answer_to(f"{EMPTY}\nANSWER: No passage says who paid.")
    assert (shown, outcome.value.text, statements, calls) == (outcome.value.text, "No passage says who paid.", 0, 1)


@pytest.mark.parametrize(
    "sent",
    [f"{JSON}\n{ANSWER} And a third", f"{JSON}\n## Answer\n{SAID} And a third", f"{ANSWER}\n{JSON[:-30]}"],
    ids=["in the answer", "without the mark", "in the JSON after the answer"],
)
async def test_a_reply_that_reached_its_limit_is_used_up_to_there(sent: str) -> None:
    shown, outcome, statements, calls = await answer_to(Scripted(sent, finish_reason="length"))
    assert (outcome.value.text, statements, calls) == (SAID, 3, 1)
    assert [failure.kind for failure in outcome.failures] == ["OutputTruncatedError"]
    assert RAW.findall(shown) == []
