"""Score parsers on GUM: ``python -m training.parser.evaluate``; prints a table and writes JSON.

Rows are right-branching by layout, and a trained parser.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from discorag.discourse.parse.trained.network import PACKAGED_FOLDER, Network, describe
from discorag.schema.discourse import Nuclearity
from training.parser.calibration import calibration_error
from training.parser.gum import GumDocument, load_gum
from training.parser.parseval import Counter, Node, Parseval
from training.parser.record import RECORD, Record
from training.parser.score import CASES, count_cases, gold_nodes

OUT = Path("bench/results/parser.json")


def right_branching(documents: Sequence[GumDocument]) -> Parseval:
    """Cut at the first paragraph start, then at the first sentence start, then at the first EDU; all elaboration."""
    counter = Counter()
    for document in documents:
        counter.add(_right_branching(document), gold_nodes(document.edus, document.splits))
    return counter.result()


def _right_branching(document: GumDocument) -> list[Node]:
    starts = [e.start for e in document.edus]
    sentences = {bisect_left(starts, s.start) for s in document.sentences}
    paragraphs = {bisect_left(starts, document.sentences[i].start) for i in document.paragraphs}
    strength = [(i in sentences) + (i in paragraphs) for i in range(len(starts))]
    nodes: list[Node] = []
    work = [(0, len(starts))]
    while work:
        i, j = work.pop()
        if j - i > 1:
            k = max(range(i + 1, j), key=lambda at: (strength[at], -at))
            nodes.append(Node(starts[i], document.edus[j - 1].end, Nuclearity.NS, "elaboration"))
            work += [(i, k), (k, j)]
    return nodes


def measure(folder: Path, documents: Sequence[GumDocument]) -> dict[str, Any]:
    """A parser's scores by case and by genre, with its size and speed."""
    network = Network(folder)
    start = time.perf_counter()
    genres = sorted({d.genre for d in documents})
    by_genre = {g: count_cases(network, [d for d in documents if d.genre == g]) for g in genres}
    seconds = time.perf_counter() - start
    words = sum(len(d.text.split()) for d in documents)
    total = {case: Counter() for case in CASES}
    for case, counter in total.items():
        for counters in by_genre.values():
            counter.update(counters[case])
    return {
        **{case: _round(counter.result()) for case, counter in total.items()},
        "genres": {
            g: {case: _round(counters[case].result()) for case in ("gold", "end_to_end")}
            for g, counters in by_genre.items()
        },
        "ece": round(calibration_error(network, documents), 4),
        **_free(folder / RECORD),
        "words_per_s_all_cases": round(words / seconds),
        "weights_mb": round(sum(f.stat().st_size for f in folder.glob("*.onnx")) / 1e6, 2),
    }


def _free(record: Path) -> dict[str, bool]:
    """Whether weights trained on these texts may be shipped, where there is a record."""
    if not record.is_file():
        return {}
    return {"free": Record.model_validate_json(record.read_text(encoding="utf-8")).free}


def _round(scores: Parseval) -> dict[str, float]:
    return {name: round(value, 2) for name, value in scores if value is not None}


def scores_table(rows: Mapping[str, Mapping[str, Any]], title: str) -> Table:
    """The table for people."""
    table = Table("parser", "case", title=title)
    names = tuple(Parseval.model_fields)
    for name in names:
        table.add_column(name, justify="right")
    for parser, cases in rows.items():
        for case in CASES:
            if case in cases:
                table.add_row(parser, case, *(f"{cases[case][n]:.1f}" if n in cases[case] else "" for n in names))
    return table


def main(
    gum: Annotated[Path, typer.Option(help="The corpus.")] = Path("../shared/data/gum"),
    split: Annotated[str, typer.Option(help="dev, or test for the final table.")] = "dev",
    parser: Annotated[Path, typer.Option(help="Folder of a trained parser.")] = PACKAGED_FOLDER,
    out: Annotated[Path | None, typer.Option(help="Result file.")] = None,
) -> None:
    """Measure, show, write."""
    console, documents = Console(), load_gum(gum, split)
    rows: dict[str, dict[str, Any]] = {"right-branching": {"gold": _round(right_branching(documents))}}
    rows[describe(parser).name] = measure(parser, documents)
    console.print(scores_table(rows, f"GUM {split}, {len(documents)} documents: original Parseval F1, 15 classes"))
    if out:
        out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
        console.print(f"Written to {out}.")


if __name__ == "__main__":
    typer.run(main)
