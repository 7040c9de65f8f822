"""Findings for readers who see neither verdict nor tier, and their marks: ``python -m bench.conflicts.marks COMMAND``.

``draw OUT FOLDER ...`` audits folders and writes ``items.jsonl`` for the readers and ``key.json``; ``merge KEY FIRST
SECOND`` writes the items with both readers' marks (JSON lines ``{"id": 1, "mark": "change"}``) as the next round.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import typer

from bench.answers.replies import open_product
from bench.conflicts.corpora import read_folder
from discorag.conflicts.alignment import Comparison, align_corpus
from discorag.conflicts.audit import audit
from discorag.conflicts.statements import AuditDocument, read_statements
from discorag.conflicts.verdicts import age, judge
from discorag.schema.values import Span
from discorag.text.escaping import one_line
from interfaces.views.audit import group_findings

ROUNDS = Path(__file__).with_name("rounds")
"""A file for each round. A line has a pair of sentences and both readers' marks; for filings, whose licence is unknown,
it has a digest of the pair."""
NEAR_MISSES = 40
"""Pairs of sentences that were compared and differ in a value or a name, but are not reported."""
SHOWN = 60
"""Words of a sentence with those around it."""
_QUOTE_WORDS = 25
_Place = tuple[AuditDocument, Span]
app = typer.Typer(help="Findings for blind readers.")


@app.command()
def draw(out: Path, folders: list[Path], home: Path = Path(".disco-rag/bench/marks")) -> None:
    """Write all findings in some folders, similar ones once, and near misses, in random order."""
    with open_product(home) as rag:
        read = {folder.name: read_folder(rag, folder) for folder in folders}
    findings, misses = list[dict[str, Any]](), list[dict[str, Any]]()
    for folder, documents in read.items():
        by_id = {d.id: d for d in documents}
        for finding in (group[0] for group in group_findings(audit(documents))):
            sides = [(by_id[side.doc_id], side.span) for side in (finding.left, finding.right)]
            findings.append(_item(folder, finding.tier, finding.verdict, sides))
        misses += [_item(folder, "", "", sides) for sides in near_misses(documents)]
    rng = random.Random(0)
    items = [*findings, *rng.sample(misses, min(NEAR_MISSES, len(misses)))]
    rng.shuffle(items)
    key = [{"id": n} | {k: v for k, v in item.items() if k != "shown"} for n, item in enumerate(items, 1)]
    shown = [json.dumps({"id": n} | item["shown"], ensure_ascii=False) for n, item in enumerate(items, 1)]
    out.mkdir(parents=True, exist_ok=True)
    (out / "items.jsonl").write_text("\n".join(shown) + "\n", "utf-8")
    (out / "key.json").write_text(json.dumps(key, ensure_ascii=False, indent=1), "utf-8")
    typer.echo(f"{len(findings)} findings, {len(items) - len(findings)} near misses of {len(misses)}.")


@app.command()
def merge(key: Path, first: Path, second: Path) -> None:
    """Write the marked items as the next round."""
    readers = [
        {m["id"]: m["mark"] for m in map(json.loads, path.read_text("utf-8").splitlines())} for path in (first, second)
    ]
    rows: list[dict[str, Any]] = json.loads(key.read_text("utf-8"))
    for row in rows:
        item = row.pop("id")
        row["marks"] = [marks[item] for marks in readers]
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    (ROUNDS / f"{len(load_rounds()) + 1}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def load_rounds() -> list[list[dict[str, Any]]]:
    """The marked items of each round, the first round first."""
    files = sorted(ROUNDS.glob("*.jsonl"), key=lambda file: int(file.stem))
    return [[json.loads(line) for line in file.read_text("utf-8").splitlines()] for file in files]


def near_misses(documents: Iterable[AuditDocument]) -> Iterator[list[_Place]]:
    """Sentences with another value or name that are compared and not reported."""
    ordered = sorted(documents, key=lambda d: age(d.identity))
    every = np.ones(len(ordered), dtype=np.bool_)
    for pair in align_corpus(ordered, *read_statements(ordered), Comparison(every, every)):
        differs = pair.has_other_subject or any(a.excludes(b) for a, b in pair.slots)
        if differs and not judge(pair, ordered):
            yield [(ordered[s.document], s.sentence.span) for s in (pair.left, pair.right)]


def _item(folder: str, tier: str, verdict: str, sides: Sequence[_Place]) -> dict[str, Any]:
    """An item of the key; ``shown`` is what readers see of it."""
    shown = [_side(folder, document, span) for document, span in sides]
    quotes = [" ".join(side["quote"].split()[:_QUOTE_WORDS]) for side in shown]
    found = {"folder": folder, "tier": tier, "verdict": verdict, "quotes": quotes}
    return found | {"shown": dict(zip("AB", shown, strict=True))}


def _side(folder: str, document: AuditDocument, span: Span) -> dict[str, str]:
    at = next(i for i, s in enumerate(document.sentences) if s.span == span)
    sentence, uri = document.sentences[at], PurePath(document.chunks[at].uri)
    quote = one_line(sentence.body, None)
    room = max(0, SHOWN - len(quote.split()))
    before, after = (" ".join(one_line(s.text, None) for s in part).split() for part in (
        document.sentences[max(0, at - 3) : at], document.sentences[at + 1 : at + 4]
    ))  # fmt: skip
    head = before[len(before) - min(len(before), room // 2) :]
    tail = after[: room - len(head)]
    parts = uri.parts[uri.parts.index(folder) + 1 :] if folder in uri.parts else (uri.name,)
    return {
        "title": document.title,
        "path": "/".join(parts),
        "section": " > ".join(sentence.headings),
        "quote": quote,
        "context": " ".join([*head, f"**{quote}**", *tail]),
    }


if __name__ == "__main__":
    app()
