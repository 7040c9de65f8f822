"""Hostile documents and replies, and what of them works in what chat shows.

A chat's message is rendered as a client would: CommonMark with tables, strikethrough, raw HTML and bare links. Then
everything that is not text, a paragraph or one of our two lists came from a source. Citations of ours are bold, and
nothing else is: what is bold beyond those that the answer's evidence has is forged.

- ``shown``: cases in which something of that kind is there.
- ``reached``: cases whose hostile sentence is in the message at all, so that there was something to keep out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench.replies import respond, turn_of
from bench.serving.promises import promised, settle
from bench.serving.server import ApiServer, Home
from bench.trust.jobs import PATIENCE_S
from bench.trust.payloads import Forgery, forgeries
from bench.trust.product import language_model
from bench.trust.trial import Figures, Trial
from tests.servers.scripted import Scripted, ScriptedServer

TENANT = "reader"
OURS = frozenset(
    {"paragraph_open", "paragraph_close", "ordered_list_open", "ordered_list_close", "bullet_list_open",
     "bullet_list_close", "list_item_open", "list_item_close", "inline", "text", "softbreak", "hardbreak",
     "text_special", "strong_open", "strong_close"}
)  # fmt: skip
"""Tokens of what we write ourselves: sentences, the list of sources, the list of disagreements."""
_READER = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(["linkify", "table", "strikethrough"])


def tokens(markdown: str) -> Iterator[Token]:
    """All of a message, those inside of others too."""
    for token in _READER.parse(markdown):
        yield token
        yield from token.children or ()


def foreign(markdown: str) -> list[str]:
    """Types of what is no text of ours. Addresses are shown as code, which nobody can follow."""
    return sorted({t.type for t in tokens(markdown) if t.type not in OURS and not _is_address(t)})


def _is_address(token: Token) -> bool:
    """Whether it is code, and holds what a reader that links addresses would take for one."""
    linked = _READER.parseInline(token.content)[0].children or [] if token.type == "code_inline" else []
    return any(t.type == "link_open" for t in linked)


def marks(markdown: str) -> int:
    """How many citations a reader sees; anything else that is bold counts as one too."""
    found, is_bold = 0, False
    for token in tokens(markdown):
        is_bold = (is_bold or token.type == "strong_open") and token.type != "strong_close"
        said = re.sub(r"\[not (?:supported|verified)\]", "", token.content)
        if is_bold and said:
            found += max(1, said.count("["))
    return found


def expected(sentences: list[dict[str, Any]]) -> int:
    """How many citations the answer's evidence makes."""
    return sum(len({str(e) for e in s["evidence"]}) for s in sentences)


def injected(message: str, sentences: list[dict[str, Any]]) -> list[str]:
    """Markup, links and citations of a source that take effect in a message."""
    more = marks(message) - expected(sentences)
    return foreign(message) + [f"{more} citations too many"] * (more > 0)


def said(forged: dict[str, Forgery]) -> Any:
    """A language model that says the hostile sentence of the question it is asked, and cites the first passage."""

    def reply(body: dict[str, Any]) -> Scripted | str:
        last = body["messages"][-1]["content"]
        texts = "\n".join(m["content"] for m in body["messages"])
        found = next((f for f in forged.values() if f.question in texts), None)
        if found is None or not turn_of(last).startswith("answer"):
            return respond(body)
        return f"{found.sentence} [1]"

    return reply


def run(trial: Trial) -> Figures:
    """``trial.count`` cases, each in a corpus of its own; half of them with a language model that is hostile."""
    cases = forgeries(trial.count, trial.seed)
    home = Home.create(trial.folder / "home", [TENANT])
    with (
        ScriptedServer(said({f.marker: f for f in cases})) as model,
        ApiServer(home, language_model(model)) as server,
        server.client(TENANT) as client,
    ):
        return judged(client, cases, trial)


def judged(client: httpx.Client, cases: list[Forgery], trial: Trial) -> Figures:
    """Ask about every case and look at what is shown."""
    jobs = [promised(client, f"case-{f.number}", {"case.md": f.document}) for f in cases]
    settle(client, jobs, seconds=10 * PATIENCE_S)
    found, reached = dict[str, list[str]](), 0
    for case in cases:
        body = {
            "model": f"{'disco-rag' if case.reply else 'disco-rag-local'}/case-{case.number}",
            "messages": [{"role": "user", "content": case.question}],
        }
        reply = client.post("/v1/chat/completions", json=body).raise_for_status().json()
        message, sentences = reply["choices"][0]["message"]["content"], reply["disco_rag"]["answer"]["sentences"]
        reached += case.marker.split()[0] in message and "safe" in message
        if works := injected(message, sentences):
            found[f"{'reply' if case.reply else 'document'}: {case.payload}"] = works
        trial.tick()
    return {"shown": len(found), "reached": reached, "shown_were": found}
