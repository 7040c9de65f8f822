"""What the audit finds: ``python -m bench.conflicts [KEY ...]`` (``make bench-conflicts``).

Nothing was fitted or chosen on the sets here. The rules were written while reading the documentation of nine projects
in two versions each.

- ``planted``: five pairs of documents of our own with three value conflicts and three others each.
- ``wikicontradict``: of 118 pairs of passages, those between whose known sentences a contradiction is reported.
- ``ramdocs``: pairs of documents with a sure contradiction: that agree, namesakes, one of them wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from bench import report
from bench.answers.replies import open_product
from bench.stats import mean
from discorag import DiscoRAG
from discorag.conflicts.verdicts import Finding, Tier, Verdict
from discorag.ingest.texts import GivenText
from eval.datasets.wikicontradict import load_wikicontradict
from eval.options import data_folder
from eval.sample import DocSpan
from interfaces.audit import AuditReport

OUT = Path("bench/results/conflicts.json")
HOME = Path(".disco-rag/bench/conflicts")
PLANTED = Path(__file__).with_name("planted")
QUESTIONS = 150
"""Of RAMDocs."""


def planted(rag: DiscoRAG) -> dict[str, Any]:
    """How many findings of each tier are reported over the five pairs of `planted/README.md`."""
    found: Counter[Tier] = Counter()
    for name in sorted({path.name.rpartition("-")[0] for path in PLANTED.glob("*-*.md")}):
        texts = [GivenText(path.read_text("utf-8"), path.stem) for path in sorted(PLANTED.glob(f"{name}-*.md"))]
        found.update(f.tier for f in audit_texts(rag, f"planted-{name}", texts).findings)
    return {"conflicts": {"value": 15, "other": 15}, "reported": {tier.value: found[tier] for tier in Tier}}


def wikicontradict(rag: DiscoRAG) -> dict[str, Any]:
    """Contradictions reported between the two known sentences, and between others."""
    benchmark = load_wikicontradict(data_folder() / "contradiction/wikicontradict/wiki_contradict_refined.jsonl")
    right: Counter[Tier] = Counter()
    other: Counter[Tier] = Counter()
    for sample in track(benchmark.samples, "WikiContradict"):
        texts = [GivenText(benchmark.documents[d].text, d) for d in dict.fromkeys(sample.documents)]
        findings = audit_texts(rag, f"wiki-{sample.id}", texts).findings
        gold = [place for piece in sample.gold for place in piece.anywhere]
        for tier in Tier:
            reported = [f for f in findings if f.verdict is Verdict.CONTRADICTS and f.tier is tier]
            right[tier] += any(holds(gold, f) for f in reported)
            other[tier] += any(not holds(gold, f) for f in reported)
    return {"pairs": len(benchmark.samples)} | {t.value: {"right": right[t], "other": other[t]} for t in Tier}


def holds(gold: Iterable[DocSpan], finding: Finding) -> bool:
    """Whether both sentences of a finding lie at known places."""
    spans = [place.span for place in gold]
    sides = (finding.left.span, finding.right.span)
    return all(any(s.start < side.end and side.start < s.end for s in spans) for side in sides)


def ramdocs(rag: DiscoRAG) -> dict[str, Any]:
    """Share of pairs of documents between which a contradiction is reported, by tier."""
    lines = (data_folder() / "contradiction/ramdocs/RAMDocs_test.jsonl").read_text("utf-8").splitlines()[:QUESTIONS]
    hits: dict[str, list[tuple[bool, bool]]] = {"agree": [], "namesakes": [], "wrong": []}
    for number, line in enumerate(track(lines, "RAMDocs")):
        documents: list[dict[str, Any]] = json.loads(line)["documents"]
        texts = [GivenText(d["text"], f"{i}", {"title": f"document-{i}"}) for i, d in enumerate(documents)]
        findings = audit_texts(rag, f"ram-{number}", texts).findings
        contradictions = [f for f in findings if f.verdict is Verdict.CONTRADICTS]
        pairs = {t: {frozenset((f.left.title, f.right.title)) for f in contradictions if f.tier is t} for t in Tier}
        for (i, a), (j, b) in combinations(enumerate(documents), 2):
            if kind := _kind(a, b):
                key = frozenset((f"document-{i}", f"document-{j}"))
                hits[kind].append((key in pairs[Tier.SURE], key in pairs[Tier.POSSIBLE]))
    return {
        kind: {"pairs": len(rows), "sure": mean([row[0] for row in rows]), "possible": mean([row[1] for row in rows])}
        for kind, rows in hits.items()
    }


def _kind(a: dict[str, Any], b: dict[str, Any]) -> str:
    types = {a["type"], b["type"]}
    if types == {"correct"}:
        return "agree" if a["answer"] == b["answer"] else "namesakes"
    return "wrong" if types == {"correct", "misinfo"} else ""


def audit_texts(rag: DiscoRAG, corpus: str, texts: list[GivenText]) -> AuditReport:
    """The audit of some texts, stored once as a corpus."""
    if not rag.backends.store.has(rag.scope(corpus=corpus)):
        rag.add_texts(texts, corpus=corpus, parser="none", retriever="dense")
    return rag.audit(corpus=corpus)


KEYS: dict[str, Callable[[DiscoRAG], dict[str, Any]]] = {f.__name__: f for f in (planted, wikicontradict, ramdocs)}


def main(
    keys: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(KEYS)}; default: all.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of the store.")] = HOME,
) -> None:
    """Measure, write, show."""
    if unknown := set(keys or ()) - KEYS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(KEYS)}.")
    with open_product(home) as rag:
        figures = {key: KEYS[key](rag) for key in keys or KEYS}
    Console().print(report.table(report.write(out, figures).figures))


if __name__ == "__main__":
    typer.run(main)
