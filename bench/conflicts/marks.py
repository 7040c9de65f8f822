"""Findings for readers who see neither verdict nor tier, and their marks: ``python -m bench.conflicts.marks COMMAND``.

``draw OUT FOLDER ...`` audits folders and writes ``pairs.md`` for the readers and ``key.json``; ``merge KEY FIRST
SECOND`` adds the pairs with both readers' marks (JSON lines ``{"n": 1, "mark": "genuine"}``) to `marks.json` as a
new round.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from bench.answers.replies import open_product
from bench.conflicts.corpora import read_folder
from discorag.conflicts.audit import audit
from discorag.conflicts.statements import AuditDocument
from discorag.conflicts.verdicts import Finding, Side, Tier, Verdict
from discorag.ingest.segment.sentence_table import Sentence
from discorag.text.escaping import one_line
from interfaces.views.audit import group_findings

MARKS = Path(__file__).with_name("marks.json")
SURE, OTHERS = 70, 40
"""Most pairs of either kind."""
AROUND = 2
"""Sentences of context on each side."""
_WORDS = 25  # of a quote that is kept
app = typer.Typer(help="Findings for blind readers.")


@app.command()
def draw(out: Path, folders: list[Path], home: Path = Path(".disco-rag/bench/marks")) -> None:
    """Write shuffled pairs: sure contradictions and replacements, and others; alike ones once."""
    sure, others = list[tuple[dict[str, Any], str]](), list[tuple[dict[str, Any], str]]()
    with open_product(home) as rag:
        read = {folder.name: {d.id: d for d in read_folder(rag, folder)} for folder in folders}
    for name, documents in read.items():
        for finding in (group[0] for group in group_findings(audit(list(documents.values())))):
            row = {"folder": name, "tier": finding.tier, "verdict": finding.verdict}
            is_sure = finding.tier is Tier.SURE and finding.verdict is not Verdict.DIFFERS
            (sure if is_sure else others).append((row | {"quotes": _quotes(finding)}, _pair(finding, documents)))
    rng = random.Random(0)
    rows = [
        pair for pairs, most in ((sure, SURE), (others, OTHERS)) for pair in rng.sample(pairs, min(most, len(pairs)))
    ]
    rng.shuffle(rows)
    out.mkdir(parents=True, exist_ok=True)
    (out / "pairs.md").write_text("\n".join(f"## {n}\n\n{text}" for n, (_, text) in enumerate(rows, 1)), "utf-8")
    (out / "key.json").write_text(json.dumps([{"n": n} | row for n, (row, _) in enumerate(rows, 1)], indent=1), "utf-8")
    typer.echo(f"{len(sure)} sure, {len(others)} others; {len(rows)} written.")


@app.command()
def merge(key: Path, first: Path, second: Path) -> None:
    """Add marked pairs to `marks.json`."""
    readers = [
        {m["n"]: m["mark"] for m in map(json.loads, path.read_text("utf-8").splitlines())} for path in (first, second)
    ]
    rows: list[dict[str, Any]] = json.loads(key.read_text("utf-8"))
    kept: list[dict[str, Any]] = json.loads(MARKS.read_text("utf-8"))
    number = 1 + max(row["round"] for row in kept)
    marked = [{"round": number} | row | {"marks": [marks[row["n"]] for marks in readers]} for row in rows]
    lines = (json.dumps({k: v for k, v in row.items() if k != "n"}, ensure_ascii=False) for row in [*kept, *marked])
    MARKS.write_text("[\n " + ",\n ".join(lines) + "\n]\n", "utf-8")


def _quotes(finding: Finding) -> list[str]:
    return [" ".join(side.quote.split()[:_WORDS]) for side in (finding.left, finding.right)]


def _pair(finding: Finding, documents: dict[str, AuditDocument]) -> str:
    sides = [_side(side, documents[side.doc_id].sentences) for side in (finding.left, finding.right)]
    return "\n".join(f"{letter}. {text}\n" for letter, text in zip("AB", sides, strict=True))


def _side(side: Side, sentences: Sequence[Sentence]) -> str:
    at = next(i for i, s in enumerate(sentences) if s.span == side.span)
    before, after = sentences[max(0, at - AROUND) : at], sentences[at + 1 : at + 1 + AROUND]
    said = " ".join(
        [
            *(one_line(s.text, 300) for s in before),
            f"**{one_line(side.quote, None)}**",
            *(one_line(s.text, 300) for s in after),
        ]
    )
    section = f", section {' > '.join(side.headings)}" if side.headings else ""
    return f"{side.title} ({side.identity or 'no entity or version known'}){section}\n\n> {said}"


if __name__ == "__main__":
    app()
