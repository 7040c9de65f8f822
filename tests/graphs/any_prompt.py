"""A scripted model for every graph and preset: it knows each prompt of ours and the papers, and answers in its form."""

import json
import re
from collections.abc import Callable

from prompts import load
from tests.graphs import paper_scripts, scripts
from tests.servers.scripted import Body, Scripted


def between(text: str, tag: str) -> str:
    """What stands between the last fences of this name."""
    return text.rpartition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def _route(prompt: str) -> str:
    """The first passage of the shown document answers."""
    line = re.search(r"^\t+(\d+): (?!=)(\S+)", between(prompt, "document"), re.MULTILINE)
    return f"[ANSWER] {line[1]}: {line[2]}" if line else "Cannot answer"


def _support(prompt: str) -> str:
    """The first passage supports every sentence."""
    count = len(between(prompt, "sentences").splitlines())
    verdict = {"verdict": "supported", "passages": [1]}
    return json.dumps({"verdicts": [{"sentence": n, **verdict} for n in range(1, count + 1)]})


_REPLIES: dict[str, Callable[[str], str]] = {
    "standalone": lambda _: json.dumps({"question": scripts.QUERY}),
    "route": _route,
    "support": _support,
    "summary": lambda _: "Vitamin D and influenza.",
    "refine-answer": lambda prompt: between(prompt, "answer"),
}
_HEADS = {name: load(name).text.split("{{")[0] for name in _REPLIES}
_OF_PAPERS, _OURS = paper_scripts.model(), scripts.model()


def model(body: Body) -> Scripted | str:
    """A good reply to any prompt."""
    prompts = [m["content"] for m in body["messages"] if m["role"] == "user"]
    for name, head in _HEADS.items():
        if prompts[-1].startswith(head):
            return _REPLIES[name](prompts[-1])
    is_of_paper = prompts[0].startswith(paper_scripts.HEADS)
    return _OF_PAPERS(body) if is_of_paper else _OURS(body)
