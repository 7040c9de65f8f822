"""The prompted parser of Disco-RAG (fig. 10) on RST-DT (its table 7): ``python -m training.parser.rst_dt FOLDER``.

RST-DT (LDC2002T07) is licensed by the LDC and is not here. FOLDER is its ``RSTtrees-WSJ-main-1.0``, whose ``TEST`` has
38 documents. The parser cuts EDUs by itself, so a node counts where its characters are those of a gold node; scores are
those of original Parseval over 18 classes.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated

import typer

from discorag.config import HOW_TO_NAME_A_MODEL, read_settings
from discorag.discourse.parse.as_printed import PaperParser
from discorag.discourse.parse.parser import join_texts
from discorag.models.gateway import gateway_from
from discorag.schema.discourse import Relation
from discorag.schema.errors import ConfigError
from prompts import load as load_prompt
from training.parser.dis import read_dis
from training.parser.prompted import Case, score_prompted

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


def class_of_relation(relation: Relation) -> str:
    """The class of one of Disco-RAG's relations."""
    return class_of_label(relation.value)


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


def main(folder: Annotated[Path, typer.Argument(help="RSTtrees-WSJ-main-1.0, or its TEST.")]) -> None:
    """Ask the configured language model for the tree of every test document, and print F1."""
    test = folder / "TEST" if (folder / "TEST").is_dir() else folder
    cases, gateway = load_rst_dt(test), gateway_from(read_settings(), "parser")
    if gateway is None:
        raise ConfigError("No language model is configured.", hint=HOW_TO_NAME_A_MODEL)
    parser = PaperParser(gateway, load_prompt("paper-tree"), beam_width=3)

    found = asyncio.run(score_prompted(parser, cases, of_label=class_of_label, of_relation=class_of_relation))
    typer.echo(f"{gateway.name}: {found.asked} documents, {found.failed} without a tree")
    for name, value in found.scores:
        typer.echo(f"{name:<12}{value:6.1f}")


if __name__ == "__main__":
    typer.run(main)
