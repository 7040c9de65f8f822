"""The prompted parser of Disco-RAG (fig. 10) on RST-DT (its table 7): ``python -m training.parser.rst_dt FOLDER``.

RST-DT (LDC2002T07) is licensed by the LDC and is not here. FOLDER is its ``RSTtrees-WSJ-main-1.0``, whose ``TEST`` has
38 documents. The parser cuts EDUs by itself, so a node counts where its characters are those of a gold node; scores are
those of original Parseval over 18 classes.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from discorag.config import read_settings
from discorag.discourse.labelled import LabelledSplit
from discorag.discourse.parse.as_printed import PaperParser
from discorag.discourse.parse.parser import Limits, join_texts
from discorag.models.gateway import Gateway
from discorag.models.protocol import TreeParser
from discorag.schema.discourse import Nuclearity, RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import ConfigError, ModelError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from prompts import load as load_prompt
from training.parser.dis import read_dis
from training.parser.parseval import Node, count_nodes, count_starts, f1

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


@dataclass(frozen=True)
class Case:
    """A document with its gold EDUs, in offsets of the text, and the tree over them."""

    id: str
    text: str
    edus: Sequence[Span]
    splits: Sequence[LabelledSplit]


def load_rst_dt(folder: Path) -> list[Case]:
    """The documents of a folder.

    Raises:
        ConfigError: There is no ``.dis`` file.
        InvariantError: A file is not a tree.
    """
    files = sorted(folder.rglob("*.dis"))
    if not files:
        raise ConfigError(f"{folder} has no .dis files.", hint="Name the TEST folder of RST-DT.")
    cases: list[Case] = []
    for file in files:
        leaves, splits = read_dis(_NOISE.sub("", file.read_text(encoding="utf-8")))
        text, edus = join_texts([" ".join(leaf.split()) for leaf in leaves], "edu")
        cases.append(Case(file.name.partition(".")[0], text, edus, splits))
    return cases


async def _parse(parser: TreeParser, case: Case) -> RstTree | None:
    """The parser's tree of a text; None if it gave none."""
    span, sentences = Span(start=0, end=len(case.text)), sentence_spans(case.text)
    chunk = Chunk(id=case.id, doc_id=case.id, order=0, span=span, text=case.text, sentences=sentences)
    try:
        return (await parser.parse(chunk)).value
    except ModelError:
        return None


def _count(tree: RstTree | None, case: Case) -> Counter[str]:
    """What a parser gets right; a text without a tree counts as one without nodes."""
    edus, splits = (tree.edus, tree.splits) if tree else ((), ())
    found = [_node(edus, s.start, s.end, s.nuclearity, s.relation.value) for s in splits]
    wanted = [_node(case.edus, s.start, s.end, s.nuclearity, s.label) for s in case.splits]
    return count_nodes(found, wanted) + count_starts(edus, case.edus)


def _node(edus: Sequence[Span], start: int, end: int, nuclearity: Nuclearity, label: str) -> Node:
    return Node(edus[start].start, edus[end - 1].end, nuclearity, class_of_label(label))


def main(folder: Annotated[Path, typer.Argument(help="RSTtrees-WSJ-main-1.0, or its TEST.")]) -> None:
    """Ask the configured language model for the tree of every test document, and print F1."""
    test = folder / "TEST" if (folder / "TEST").is_dir() else folder
    cases, gateway = load_rst_dt(test), Gateway(read_settings().llm_for("parser"))
    parser = PaperParser(gateway, load_prompt("paper-tree"), Limits())

    async def parse_all() -> list[RstTree | None]:
        return await asyncio.gather(*(_parse(parser, case) for case in cases))  # the gateway limits how many at once

    trees = asyncio.run(parse_all())
    typer.echo(f"{gateway.name}: {len(cases)} documents, {trees.count(None)} without a tree")
    for name, value in f1(sum(map(_count, trees, cases), Counter[str]())).items():
        typer.echo(f"{name:<12}{value:6.1f}")


if __name__ == "__main__":
    typer.run(main)
