"""What a language model would say, in length and form: a script for `tests.servers.scripted.ScriptedServer`.

The graph has about 1.5 edges a chunk, the plan about 180 tokens, the answer about 260, as `eval.running.bill` assumes.
The answer says what the passages say, in other words than theirs, so that it takes verifying.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from discorag.schema.discourse import EDGE_RELATIONS
from prompts import load
from tests.servers.scripted import Scripted

ANSWER_CHARACTERS = 1_000
SENTENCE = 16  # words
PLAN_STEPS = 6

_CHUNK = re.compile(r"<chunk(?: [^>]*)?>\n(.*?)\n</chunk>", re.DOTALL)
_MARK = re.compile(r"\|\d+[<>=][a-z]{4}\|")
_TURNS = ("graph", "plan", "answer", "answer-plain")


def respond(body: dict[str, Any]) -> Scripted:
    """The reply to a chat request of the default preset. Raises ``StopIteration`` for an unknown prompt."""
    texts = [m["content"] for m in body["messages"]]
    chunks = _CHUNK.findall("\n".join(texts))
    turn = turn_of(texts[-1])
    reply = {
        "graph": lambda: graph_json(len(chunks)),
        "plan": lambda: plan(len(chunks)),
        "answer": lambda: answer(chunks),
        "answer-plain": lambda: answer(chunks),
    }[turn]
    return Scripted(reply(), usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})


def turn_of(last: str) -> str:
    """The prompt file that the last message was made from."""
    return next(name for name in _TURNS if last.endswith(load(name).text))


def graph_json(k: int) -> str:
    """A graph as our prompt asks for it: compact, every source named."""
    rows: dict[str, dict[str, str]] = {f"c{i}": {} for i in range(1, k + 1)}
    for source, target, label in _edges(k):
        rows[f"c{source}"][str(target)] = label
    return json.dumps(rows, separators=(",", ":"))


def plan(k: int) -> str:
    """A paragraph of `PLAN_STEPS` steps over ``k`` chunks."""
    steps = [
        f"{'Open' if i == 0 else 'Go on'} with what passage [{i % k + 1}] says about the question, and set the detail "
        f"that [{(i + 1) % k + 1}] adds behind it as support."
        for i in range(PLAN_STEPS)
    ]
    return " ".join(steps)


def answer(chunks: list[str]) -> str:
    """Sentences of `SENTENCE` words from one passage each, every fifth left out."""
    said = ""
    for number, chunk in [*enumerate(chunks, start=1)] * 3:
        words = [w for i, w in enumerate(_words(chunk)) if i % 5]
        start = len(said) % max(1, len(words) - SENTENCE)
        sentence = " ".join(words[start : start + SENTENCE]) or "Nothing is said"
        said += f"It says that {sentence} [{number}]. "
        if len(said) > ANSWER_CHARACTERS:
            break
    return said.rstrip()


def _edges(k: int) -> Iterator[tuple[int, int, str]]:
    """One edge from every odd chunk and two from every even one, to the chunks after it."""
    for source in range(1, k + 1):
        for step in range(1, min(k, 2 if source % 2 else 3)):
            label = EDGE_RELATIONS[(3 * source + step) % len(EDGE_RELATIONS)]
            yield source, (source + step - 1) % k + 1, label.value


def _words(chunk: str) -> list[str]:
    """The passage's words, without marks, and without signs that could end a sentence or read as a citation."""
    return re.findall(r"[A-Za-z][A-Za-z'-]+|\d+", _MARK.sub("", chunk))
