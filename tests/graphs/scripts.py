"""A scripted model that takes part in the whole pipeline: it reads which turn is asked for and answers in its form."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from discorag import DiscoRAG
from tests.conftest import Pipelines
from tests.servers.scripted import Script, Scripted, ScriptedServer

QUERY = "Does vitamin D lower the incidence of influenza?"
TEXTS = {
    "a.txt": "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults. The trial was short.",
    "b.txt": "Across all trials, supplements had no effect on the incidence of influenza. Other trials saw no effect.",
    "c.txt": "Vitamin D is made in the skin. However, winter sun is too weak.",
}

ANSWER = "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Other trials saw no effect [2]."

_HEADS = {
    "answer": "Answer a question from passages",
    "statements": "Find what passages say",
    "merge": "Several readers",
    "correct": "A check of the draft",
}
_PASSAGE = re.compile(
    r"^<(passage\S*) (\d+)>\n(?:(?:Source|Continues): [^\n]*\n)*(.*?)\n</\1 \2>", re.MULTILINE | re.DOTALL
)


def turn_of(body: dict[str, Any]) -> str:
    """What a request asks for, also when it asks again: ``statements``, ``merge``, ``answer``, ``correct``,
    ``tree``, or ``both`` for statements and answer in one reply.
    """
    first = body["messages"][0]["content"]
    turn = next((turn for turn, head in _HEADS.items() if first.startswith(head)), "tree")
    return "both" if turn == "statements" and "write ANSWER:" in first else turn


def prompt_of(body: dict[str, Any]) -> str:
    """Everything that the model reads."""
    return "\n".join(message["content"] for message in body["messages"])


def passages_in(body: dict[str, Any]) -> dict[int, str]:
    """The texts of the passages in a prompt, by number."""
    return {int(number): text for _, number, text in _PASSAGE.findall(prompt_of(body))}


def sentence_in(passage: str) -> str:
    """The first sentence of a passage's prose, as a model would quote it."""
    prose = next((p for p in passage.split("\n\n") if not p.startswith(("#", "|"))), passage)
    return re.split(r"(?<=[.!?])\s+", prose.strip())[0]


def at_odds(body: dict[str, Any]) -> str:
    """A statement for each passage, with a quotation of it; the second contradicts the first."""
    quoted = {n: sentence_in(text) for n, text in passages_in(body).items()}
    statements = [
        {
            "id": n,
            "says": f"Passage {n} makes a point",
            "role": "answers",
            "quotations": [{"passage": n, "text": text}],
        }
        for n, text in quoted.items()
    ]
    conflict = {"from": 2, "relation": "CONTRADICTS", "to": 1, "about": "the effect"}
    relations = [conflict] if {1, 2} <= quoted.keys() else []
    reply = {"statements": statements, "relations": relations, "order": [[n] for n in quoted], "missing": ""}
    return json.dumps(reply, ensure_ascii=False)


def in_one_reply(statements: Scripted | str, answer: Scripted | str) -> Scripted | str:
    """What a server sends that is asked for both; it fails as it does for the first of them that fails."""
    if isinstance(statements, Scripted):
        return statements
    before = f"{statements}\nANSWER: "
    if isinstance(answer, str):
        return before + answer
    if answer.status != 200:
        return answer
    pieces = answer.break_after and answer.break_after + len(before) // 8
    return replace(answer, text=before + (answer.text or ""), break_after=pieces)


def model(replies: Mapping[str, Scripted | str | Script] | None = None) -> Script:
    """A script with a good reply for every turn; ``replies`` puts others, or scripts for them, in their place, by
    turn. A reply for both statements and answer is made of these two.
    """

    def respond(body: dict[str, Any]) -> Scripted | str:
        turn = turn_of(body)
        if turn == "both" and "both" not in (replies or {}):
            return in_one_reply(reply_for("statements", body), reply_for("answer", body))
        return reply_for(turn, body)

    def reply_for(turn: str, body: dict[str, Any]) -> Scripted | str:
        if replies and turn in replies:
            put = replies[turn]
            return put(body) if callable(put) else put
        if turn == "statements":
            return at_odds(body)
        reply = {
            "answer": ANSWER,
            "tree": "no tree",
            "merge": '{"same": [], "roles": [], "relations": [], "order": [[1]]}',
        }
        return reply[turn] if len(passages_in(body)) > 1 else reply[turn].replace("[2]", "[1]")

    return respond


def write_texts(folder: Path, texts: Mapping[str, str] = TEXTS) -> Path:
    """A folder with these texts, by file name."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def open_over(
    pipeline: Pipelines, texts: Path, server: ScriptedServer, parser: str = "auto", **fields: Any
) -> DiscoRAG:
    """A pipeline with this language model, which has read the texts."""
    rag = pipeline(llm=server.base_url, **fields)
    rag.ingest(texts, parser=parser)
    return rag
