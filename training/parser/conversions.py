"""How far the two conversions to trees over sentences agree: ``python -m training.parser.conversions``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from discorag.schema.discourse import Nuclearity
from training.parser.gold import merged
from training.parser.gum import GumDocument, load_gum

Nodes = dict[tuple[int, int], tuple[int, Nuclearity, str]]


def nodes(document: GumDocument) -> Nodes:
    """By span: where it is parted, nuclearity and label."""
    return {(s.start, s.end): (s.mid, s.nuclearity, s.label) for s in merged(document, document.sentences)[1]}


def main(
    gum: Annotated[Path, typer.Option(help="The corpus.")] = Path("../shared/data/gum"),
    out: Annotated[Path, typer.Option(help="Result file.")] = Path("bench/results/conversions.json"),
) -> None:
    """Compare the gold trees of GUM's development part, by DISRetrieval's conversion and by ours."""
    documents = load_gum(gum, "dev")
    both = [(nodes(d), nodes(replace(d, conversion="parents"))) for d in documents]
    count = sum(len(ours) for ours, _ in both)
    spans = sum(len(ours.keys() & theirs.keys()) for ours, theirs in both)
    same = sum(ours[k] == theirs[k] for ours, theirs in both for k in ours.keys() & theirs.keys())
    found = {"documents": len(documents), "nodes": count, "same_span": spans / count, "same_node": same / count}
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    typer.echo(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
