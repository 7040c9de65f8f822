"""A scripted model that takes part in the whole pipeline: it reads which turn is asked for and answers in its form."""

import json
import re
from collections.abc import Mapping
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

PLAN = "State the finding of [1]. Then set [2] against it."
ANSWER = "Daily vitamin D lowered the incidence of influenza by 12 % [1]. Other trials saw no effect [2]."


def turn_of(body: dict[str, Any]) -> str:
    """Which turn the last message asks for: ``graph``, ``plan``, ``answer`` or ``tree``."""
    last = body["messages"][-1]["content"]
    for turn in ("graph", "plan", "answer"):
        if f"Now the {turn}" in last:
            return turn
    return "answer" if last.rstrip().endswith("such as [2].") else "tree"


def chunk_count(body: dict[str, Any]) -> int:
    """Chunks in the evidence."""
    return len(re.findall(r"^<chunk id=", "\n".join(m["content"] for m in body["messages"]), re.MULTILINE))


def at_odds(body: dict[str, Any]) -> str:
    """Chunk 2 contrasts with chunk 1; nothing else is related."""
    rows: dict[str, Any] = {f"c{i}": {} for i in range(1, chunk_count(body) + 1)}
    rows["c2"] = {"1": "CONTRASTS_WITH"}
    return json.dumps(rows, separators=(",", ":"))


def model(replies: Mapping[str, Scripted | str] | None = None) -> Script:
    """A script with a good reply for every turn; ``replies`` puts others in their place, by turn."""

    def respond(body: dict[str, Any]) -> Scripted | str:
        turn = turn_of(body)
        if replies and turn in replies:
            return replies[turn]
        reply = {"graph": at_odds(body), "plan": PLAN, "answer": ANSWER, "tree": "no tree"}[turn]
        return reply if chunk_count(body) > 1 else reply.replace("[2]", "[1]")

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
