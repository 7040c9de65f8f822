"""Trees of chunks in the product's JSON form, scored against GUM's: original Parseval, micro-averaged F1 in per cent.

Usage: ``python -m bench.trees FOLDER``. ``FOLDER/chunks.json`` lists chunks, ``[{"id", "doc", "start", "end"}]``:
characters of a document as `training.parser.gum` puts it together. ``FOLDER/SYSTEM/ID.json`` is a chunk's tree as
``disco-rag parse --format json`` writes it; its characters are counted from the chunk's start.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from pydantic import BaseModel, TypeAdapter
from rich.console import Console

from discorag.discourse.parse.gum_labels import RELATIONS
from discorag.schema.discourse import Relation, RstTree, Split
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span
from eval.options import data_folder
from training.parser.classes import class_of
from training.parser.gold import restrict
from training.parser.gum import GumDocument, load_gum
from training.parser.parseval import Node, count_nodes, count_starts, f1
from training.parser.score import gold_nodes

DRAWS = 2000
_CLASSES = {relation: class_of(label) for label, relation in RELATIONS.items() if relation} | {
    Relation.EXAMPLE: "elaboration",
    Relation.COMPARISON: "adversative",
    Relation.CONSEQUENCE: "causal",
    Relation.TEMPORAL: "context",
    Relation.SUMMARY: "restatement",
    Relation.INTERPRETATION: "evaluation",
    Relation.DEFINITION: "elaboration",
    Relation.CLASSIFICATION: "elaboration",
}
"""The nearest of GUM's coarse classes for each relation of the product."""


class ChunkPlace(BaseModel):
    """The place of a chunk: characters ``[start, end)`` of a document of GUM."""

    id: str
    doc: str
    start: int
    end: int


class WrittenTree(BaseModel):
    """A tree in the product's JSON form; its characters are counted from the chunk's start."""

    edus: list[Span]
    splits: list[Split]

    def in_document(self, offset: int) -> RstTree:
        """The tree in the document's characters. Raises ``ValidationError`` if it is not one tree."""
        edus = tuple(Span(start=e.start + offset, end=e.end + offset) for e in self.edus)
        return RstTree(edus=edus, splits=tuple(self.splits))


def count_tree(tree: RstTree, document: GumDocument, start: int, end: int) -> Counter[str]:
    """Count what a tree over characters ``[start, end)`` of a document gets right, as `training.parser.parseval`."""
    inside = [i for i, edu in enumerate(document.edus) if start <= edu.start < end]
    edus = [document.edus[i] for i in inside]
    nodes = count_nodes(_nodes(tree), gold_nodes(edus, restrict(document.splits, inside)))
    return nodes + count_starts(tree.edus, edus)


def _nodes(tree: RstTree) -> Iterator[Node]:
    for s in tree.splits:
        yield Node(tree.edus[s.start].start, tree.edus[s.end - 1].end, s.nuclearity, _CLASSES[s.relation])


def count_trees(
    folder: Path, places: Sequence[ChunkPlace], documents: Mapping[str, GumDocument]
) -> dict[str, Counter[str]]:
    """Count by document what the trees of its chunks get right; the folder has one file for each chunk."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for place in places:
        written = WrittenTree.model_validate_json((folder / f"{place.id}.json").read_text("utf-8"))
        tree = written.in_document(place.start)
        counts[place.doc].update(count_tree(tree, documents[place.doc], place.start, place.end))
    return dict(counts)


def scores(counts: Iterable[Counter[str]]) -> dict[str, float]:
    """F1 by measure over documents."""
    return {measure: round(value, 1) for measure, value in f1(sum(counts, Counter[str]())).items()}


def gain(counts: Mapping[str, Counter[str]], other: Mapping[str, Counter[str]]) -> dict[str, list[float]]:
    """By measure, F1 minus the other's with its 95 % interval: documents are drawn 2,000 times with replacement."""
    draw, names = Random(1), sorted(counts)

    def difference(drawn: Sequence[str]) -> dict[str, float]:
        ours, theirs = (f1(sum((c[n] for n in drawn), Counter[str]())) for c in (counts, other))
        return {measure: ours[measure] - theirs[measure] for measure in ours}

    drawn = [difference(draw.choices(names, k=len(names))) for _ in range(DRAWS)]
    ends = {m: sorted(d[m] for d in drawn) for m in drawn[0]}
    return {
        m: [round(x, 1) for x in (value, ends[m][DRAWS // 40], ends[m][-DRAWS // 40 - 1])]
        for m, value in difference(names).items()
    }


def main(
    folder: Annotated[Path, typer.Argument(help="Folder with chunks.json and a folder for each system.")],
    against: Annotated[str, typer.Option(help="The system that the others are compared with.")] = "fast",
) -> None:
    """Score each system, compare it, and show the figures."""
    places = TypeAdapter(list[ChunkPlace]).validate_json((folder / "chunks.json").read_text("utf-8"))
    documents = {d.id: d for split in ("train", "dev", "test") for d in load_gum(data_folder() / "gum", split)}
    counts = {s.name: count_trees(s, places, documents) for s in sorted(folder.iterdir()) if s.is_dir()}
    if against not in counts:
        raise ConfigError(f"There is no folder {folder / against}.", hint=f"Choose one of {', '.join(counts)}.")
    found = {
        "chunks": len(places),
        "documents": len({place.doc for place in places}),
        "scores": {name: scores(of.values()) for name, of in counts.items()},
        "differences": {f"{n} - {against}": gain(of, counts[against]) for n, of in counts.items() if n != against},
    }
    Console().print_json(data=found)


if __name__ == "__main__":
    typer.run(main)
