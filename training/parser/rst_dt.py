"""The prompted parser of Disco-RAG (fig. 10) on RST-DT (its table 7): ``python -m training.parser.rst_dt FOLDER``.

RST-DT (LDC2002T07) is licensed by the LDC and is not here. FOLDER is its ``RSTtrees-WSJ-main-1.0``, whose ``TEST`` has
38 documents. The parser cuts EDUs by itself, so a node counts where its characters are those of a gold node; scores are
those of original Parseval over 18 classes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from discorag.config import HOW_TO_NAME_A_MODEL, read_settings
from discorag.discourse.parse.as_printed import read
from discorag.discourse.parse.parser import Limits, TreeParser, join_texts
from discorag.discourse.parse.prompted import PromptedParser
from discorag.models.gateway import gateway_from
from discorag.schema.discourse import PAPER_RELATIONS, Nuclearity, RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import ConfigError, ModelError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from prompts import load as load_prompt
from training.parser.dis import GoldSplit, read_dis
from training.parser.parseval import Counter, Node

_CLASSES = {
    "Attribution": "attribution",
    "Background": "background circumstance",
    "Cause": "cause result consequence",
    "Comparison": "comparison preference analogy proportion",
    "Condition": "condition hypothetical contingency otherwise",
    "Contrast": "contrast concession antithesis",
    "Elaboration": "elaboration example definition classification",
    "Enablement": "purpose enablement",
    "Evaluation": "evaluation interpretation conclusion comment",
    "Explanation": "evidence explanation reason",
    "Joint": "list disjunction joint",
    "Manner-Means": "manner means",
    "Same-Unit": "same",
    "Summary": "summary restatement",
    "Temporal": "temporal sequence inverted",
    "Textual-Organization": "textualorganization",
    "Topic-Change": "topic",
    "Topic-Comment": "problem question statement rhetorical topic-comment comment-topic",
}
"""The 18 classes of Carlson and Marcu (2001) -> how their labels begin, and the names of Disco-RAG's relations."""
_BY_WORD = {word: name for name, words in _CLASSES.items() for word in words.split()}
_NOISE = re.compile(r"//TT_ERR.*|<P>")


def class_of_label(label: str) -> str:
    """The class of a label of RST-DT, such as ``elaboration-additional-e``. Raises ``KeyError`` if there is none."""
    name = re.sub(r"-[nse]$", "", label.lower())
    return _BY_WORD.get(name) or _BY_WORD[name.partition("-")[0]]


Case = tuple[str, str, Sequence[Span], Sequence[GoldSplit]]
"""Id and text; the gold EDUs in offsets of the text, and the tree over them."""


def load_rst_dt(folder: Path) -> list[Case]:
    """The documents of a folder as texts with EDUs and trees.

    Raises:
        ConfigError: There is no ``.dis`` file.
        InvariantError: A file is not a tree.
    """
    files = sorted(folder.rglob("*.dis"))
    if not files:
        raise ConfigError(f"{folder} has no .dis files.", hint="Name the TEST folder of RST-DT.")
    return [_case(file) for file in files]


def _case(file: Path) -> Case:
    leaves, splits = read_dis(_NOISE.sub("", file.read_text(encoding="utf-8")))
    text, edus = join_texts([" ".join(leaf.split()) for leaf in leaves], "edu")
    return file.name.partition(".")[0], text, edus, splits


async def _parse(parser: TreeParser, case: Case) -> RstTree | None:
    """The parser's tree of a text; None if it gave none."""
    id, text, _, _ = case
    span = Span(start=0, end=len(text))
    chunk = Chunk(id=id, doc_id=id, order=0, span=span, text=text, sentences=sentence_spans(text))
    try:
        return (await parser.parse(chunk)).value
    except ModelError:
        return None


def count_nodes(counter: Counter, tree: RstTree | None, case: Case) -> None:
    """Count a parser's nodes; a text without a tree counts as one without nodes."""
    _, _, gold, splits = case
    edus = tree.edus if tree else ()
    found = [_node(edus, s.start, s.end, s.nuclearity, s.relation.value) for s in tree.splits] if tree else []
    counter.add(found, [_node(gold, s.start, s.end, s.nuclearity, s.label) for s in splits])
    counter.add_starts([e.start for e in edus[1:]], [e.start for e in gold[1:]])


def _node(edus: Sequence[Span], start: int, end: int, nuclearity: Nuclearity, label: str) -> Node:
    return Node(edus[start].start, edus[end - 1].end, nuclearity, class_of_label(label))


def main(folder: Annotated[Path, typer.Argument(help="RSTtrees-WSJ-main-1.0, or its TEST.")]) -> None:
    """Ask the configured language model for the tree of every test document, and print F1."""
    test = folder / "TEST" if (folder / "TEST").is_dir() else folder
    cases, gateway = load_rst_dt(test), gateway_from(read_settings(), "parser")
    if gateway is None:
        raise ConfigError("No language model is configured.", hint=HOW_TO_NAME_A_MODEL)
    parser = PromptedParser("paper", gateway, load_prompt("paper-tree"), PAPER_RELATIONS, read, Limits())

    async def parse_all() -> list[RstTree | None]:
        return await asyncio.gather(*(_parse(parser, case) for case in cases))  # the gateway limits how many at once

    trees, counter = asyncio.run(parse_all()), Counter()
    for tree, case in zip(trees, cases, strict=True):
        count_nodes(counter, tree, case)
    typer.echo(f"{gateway.name}: {len(cases)} documents, {trees.count(None)} without a tree")
    for name, value in counter.result():
        typer.echo(f"{name:<12}{value:6.1f}")


if __name__ == "__main__":
    typer.run(main)
