"""A scripted model for ``preset=paper`` and the baselines: it knows a prompt by its file and answers in its form."""

import re
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from discorag import AskResult, DiscoRAG
from discorag.discourse.parse.inline import mark
from discorag.schema.document import Chunk
from prompts import load, names
from tests.conftest import Pipelines
from tests.graphs.scripts import QUERY, open_over
from tests.servers.scripted import Body, Script, Scripted, ScriptedServer

TEXTS = {
    "zebra-one.txt": "Daily vitamin D lowered influenza by 12 % in adults with < 20 ng. The trial was short.",
    "zebra-two.txt": "Across all trials, supplements had no effect on influenza. Other trials saw no effect.",
    "zebra-three.txt": "Vitamin D is made in the skin. However, winter sun is too weak.",
}
PIPELINE = ["tree"] * 3 + ["graph", "plan", "answer"]
PLAN = "Open with the trial in adults, then set the wider evidence against it."
ANSWER = "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults."
QUERIES = ("incidence of influenza under vitamin D", "sunlight and the skin")

_BEGINNINGS = {name: load(name).text.split("{{")[0] for name in names() if name.startswith("paper-")}
HEADS = tuple(_BEGINNINGS.values())
"""How each prompt of the paper begins."""
_FENCED = re.compile(r"<([\w-]+)>\n(.*?)\n</\1>|<(title)>(.*?)</\3>\n", re.DOTALL)


def prompt_of(body: Body) -> str:
    """The newest turn that is one of the paper's prompts; a repair asks again for the one before it."""
    return next(m["content"] for m in reversed(body["messages"]) if m["content"].startswith(HEADS))


def name_of(body: Body) -> str:
    """Which prompt file was asked, without ``paper-``."""
    prompt = prompt_of(body)
    return next(n for n, head in _BEGINNINGS.items() if prompt.startswith(head)).removeprefix("paper-")


def material_of(body: Body) -> str:
    """What was filled into the prompt, and the name over it."""
    found = re.search(r"^(TEXT TO ANALYSE:\n|QUERY:\n).*", prompt_of(body), re.MULTILINE | re.DOTALL)
    assert found
    return found[0]


def fenced(body: Body, tag: str) -> list[str]:
    """What stands between fences of this name, in order."""
    found = ((a or b, text or title) for a, text, b, title in _FENCED.findall(material_of(body)))
    return [text for name, text in found if name in (tag, f"{tag}-2")]


def outside(body: Body) -> str:
    """The material without all that is fenced."""
    return _FENCED.sub("", material_of(body))


def sections(body: Body) -> list[str]:
    """The names of the material's parts, in order."""
    return [n for n in re.findall(r"^([A-Z ]+):$", outside(body), re.MULTILINE) if n != "TEXT TO ANALYSE"]


def tree_reply(chunk: str) -> str:
    """A tree over a chunk: its first sentence, and the rest as ELABORATION."""
    first, mark, rest = " ".join(chunk.split()).partition(". ")
    if not rest:
        return f"EDUs:\n[1] {first}\nRST ANALYSIS:\nTREE STRUCTURE:\nROOT[1]"
    one, two = first + mark.strip(), rest
    return (
        f"EDUs:\n[1] {one}\n[2] {two}\nRST ANALYSIS:\nRELATION(EDU2, EDU1): ELABORATION\nTREE STRUCTURE:\n"
        f"ROOT[1-2]\n|--- NUCLEUS[1] {one} (N)\n|--- SATELLITE[2] {two} (S): ELABORATION"
    )


def pair_lines(k: int, *, second_to_first: str, others: str) -> str:
    """A line for every ordered pair of ``k`` chunks; only (2, 1) is special."""
    labels = {(2, 1): second_to_first}
    pairs = permutations(range(1, k + 1), 2)
    return "\n".join(f"CHUNK[{i}] -> CHUNK[{j}]: {labels.get((i, j), others)}" for i, j in pairs)


def _hint(_: Body) -> str:
    return f"PLAN: {PLAN}\nRETRIEVAL HINT:\n" + "\n".join(f"- {q}" for q in QUERIES)


def _graph(body: Body) -> str:
    return pair_lines(len(fenced(body, "chunk")), second_to_first="CONTRASTS_WITH", others="UNRELATED")


def _markers(body: Body) -> str:
    return pair_lines(len(fenced(body, "chunk")), second_to_first="however", others="NONE")


_REPLIES: dict[str, Callable[[Body], str]] = {
    "tree": lambda body: tree_reply(fenced(body, "chunk")[0]),
    "graph": _graph,
    "markers": _markers,
    "plan": lambda _: f"PLAN: {PLAN}",
    "plan-and-retrieve": _hint,
    "retrieve-and-plan": lambda _: f"PLAN: {PLAN}\nANSWER: {ANSWER}",
}


def model(replies: Mapping[str, Scripted | str] | None = None) -> Script:
    """A script with a good reply for every prompt; ``replies`` puts others in their place, by the prompt's name."""

    def respond(body: Body) -> Scripted | str:
        name = name_of(body)
        if replies and name in replies:
            return replies[name]
        return _REPLIES.get(name, lambda _: f"ANSWER: {ANSWER}")(body)

    return respond


class Run(NamedTuple):
    """A question with ``preset=paper`` and what the model was asked for it."""

    result: AskResult
    requests: list[Body]
    rag: DiscoRAG


def ask_over(
    pipeline: Pipelines, texts: Path, script: Script | None = None, *, trees: str = "none", **options: Any
) -> Run:
    """Ask with a model that answers by ``script``, a baseline or the preset; ``trees`` is the parser of the ingest."""
    given: dict[str, Any] = options if "baseline" in options else {"preset": "paper", **options}
    with ScriptedServer(script or model()) as server:
        rag = open_over(pipeline, texts, server, trees)
        server.requests.clear()
        return Run(rag.ask(QUERY, **given), server.requests, rag)


def marked(chunk: Chunk) -> str:
    """A chunk as plan and answer read it: its text with the marks of its tree."""
    assert chunk.tree is not None
    return mark(chunk.text, chunk.tree, offset=chunk.span.start)


def chunks_of(rag: DiscoRAG, result: AskResult) -> tuple[Chunk, ...]:
    return tuple(rag.backends.store.chunks(rag.scope(), [h.chunk_id for h in result.hits]))
