"""What the audit finds: ``python -m bench.conflicts [KEY ...]`` (``make bench-conflicts``).

Rules were made on the ``fit`` projects of `changes.json`, on FEVER and on 19 folders of documentation, and chosen on
the ``choose`` projects and on the questions of RAMDocs that are not scored here. The filings were read meanwhile; the
other sets only score.

- ``planted``: five pairs of documents of our own, whose conflicts `planted/conflicts.json` lists.
- ``wikicontradict``: in how many of 118 pairs of passages the known contradiction is reported.
- ``ramdocs``: in how many pairs of documents a contradiction is reported, if they agree, are about two namesakes, or
  one of them is wrong.
- ``recall``: changes between two versions of documentation, see `bench.conflicts.recall`.
- ``unrelated_false``: contradictions per 100,000 words of tales and papers, each on a matter of its own.
- ``filings``: sure contradictions between a company's annual reports; how many were read as genuine (`rounds/`).
- ``precision_by_hand``: how many of the findings that two blind readers marked (`rounds/`) both call genuine.
- ``cost``: processor time for a million words.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from bench import report
from bench.answers.replies import open_product, pair_digest
from bench.conflicts.corpora import FILINGS, HOME, read_filings, read_project, read_unrelated
from bench.conflicts.marks import load_rounds
from bench.conflicts.recall import SPLIT, measure_recall
from bench.stats import kappa, mean
from discorag import DiscoRAG
from discorag.conflicts.audit import audit
from discorag.conflicts.statements import AuditDocument
from discorag.conflicts.verdicts import Finding, Tier, Verdict
from discorag.ingest.texts import GivenText
from eval.datasets.wikicontradict import load_wikicontradict
from eval.options import data_folder
from eval.sample import DocSpan
from interfaces.audit import read_documents

OUT = Path("bench/results/conflicts.json")
PLANTED = Path(__file__).with_name("planted")
QUESTIONS = 150
"""Questions of RAMDocs."""
GENUINE = {"genuine", "contradiction", "change"}
"""Marks of a reader who sees a conflict."""
ENCODED = 500
"""Sentences by which the time of an encoding is measured."""


def planted(rag: DiscoRAG) -> dict[str, Any]:
    """How many of the conflicts of the five pairs are reported, by tier, and how many findings are none of them."""
    conflicts: dict[str, list[tuple[str, str]]] = json.loads((PLANTED / "conflicts.json").read_text("utf-8"))
    found: Counter[str] = Counter()
    for name, pairs in conflicts.items():
        texts = [GivenText(path.read_text("utf-8"), path.stem) for path in sorted(PLANTED.glob(f"{name}-*.md"))]
        for f in audit(read_texts(rag, f"planted-{name}", texts)):
            quotes = (f.left.quote, f.right.quote)
            is_planted = any(a in one and b in other for a, b in pairs for one, other in (quotes, quotes[::-1]))
            found[f.tier.value if is_planted else "false"] += 1
    return {"conflicts": sum(map(len, conflicts.values()))} | {key: found[key] for key in (*Tier, "false")}


def wikicontradict(rag: DiscoRAG) -> dict[str, Any]:
    """In how many pairs a contradiction is reported between the known sentences, and in how many between others."""
    benchmark = load_wikicontradict(data_folder() / "contradiction/wikicontradict/wiki_contradict_refined.jsonl")
    right: Counter[Tier] = Counter()
    other: Counter[Tier] = Counter()
    for sample in track(benchmark.samples, "WikiContradict"):
        texts = [GivenText(benchmark.documents[d].text, d) for d in dict.fromkeys(sample.documents)]
        findings = audit(read_texts(rag, f"wiki-{sample.id}", texts))
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
        contradictions = [f for f in audit(read_texts(rag, f"ram-{number}", texts)) if f.verdict is Verdict.CONTRADICTS]
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


def read_texts(rag: DiscoRAG, corpus: str, texts: list[GivenText]) -> list[AuditDocument]:
    """Some texts as documents, stored once as a corpus."""
    store, scope = rag.backends.store, rag.scope(corpus=corpus)
    if not store.has(scope):
        rag.add_texts(texts, corpus=corpus, parser="none", retriever="dense")
    return rag.run(lambda: read_documents(store, rag.backends.encoder, [(scope, store.manifests(scope))]))


def recall(rag: DiscoRAG) -> dict[str, Any]:
    """Changes that are found, of each part of the projects."""
    return {part: measure_recall(rag, part) for part in SPLIT}


def unrelated_false(rag: DiscoRAG) -> dict[str, Any]:
    """Contradictions between texts on different matters, all false, per 100,000 words."""
    found: Counter[Tier] = Counter()
    words = 0
    for documents in read_unrelated(rag).values():
        found.update(f.tier for f in audit(documents) if f.verdict is Verdict.CONTRADICTS)
        words += _words(documents)
    return {"words": words} | {tier.value: round(found[tier] * 1e5 / words, 2) for tier in Tier}


def filings(rag: DiscoRAG) -> dict[str, Any]:
    """Sure contradictions between a company's annual reports, and how many of them were read as genuine."""
    found = [f for name in FILINGS for f in audit(read_filings(rag, name))]
    sure = [f for f in found if f.tier is Tier.SURE and f.verdict is Verdict.CONTRADICTS]
    rows = (row for rows in load_rounds() for row in rows if "digest" in row)
    read = {row["digest"]: "genuine" if is_genuine(row) else "not genuine" for row in rows}
    marks = Counter(read.get(pair_digest(f.left.quote, f.right.quote), "not read") for f in sure)
    return {"contradicts": len(sure)} | {mark: marks[mark] for mark in ("genuine", "not genuine", "not read")}


def is_genuine(row: dict[str, Any]) -> bool:
    """Whether both readers say so."""
    return GENUINE.issuperset(row["marks"])


def group_of(row: dict[str, Any]) -> str:
    """``differs`` for a sure difference, ``near misses`` for what was not reported, else the finding's tier."""
    is_difference = row["tier"] == Tier.SURE and row["verdict"] == Verdict.DIFFERS
    return "differs" if is_difference else row["tier"] or "near misses"


def precision_by_hand(_: DiscoRAG) -> dict[str, Any]:
    """How many rows of each group of the latest round both readers call genuine.

    ``with_round_before`` adds the sure findings of the round before, which the same rules made.
    """
    before, marks = load_rounds()[-2:]
    names = ("sure", "differs", "possible", "near misses")
    groups = {name: [row for row in marks if group_of(row) == name] for name in names}
    groups["with_round_before"] = groups["sure"] + [row for row in before if group_of(row) == "sure"]
    one, other = ([row["marks"][reader] in GENUINE for row in marks] for reader in (0, 1))
    return {name: _share(rows) for name, rows in groups.items()} | {
        "agreement": round(float(np.mean(np.equal(one, other))), 2),
        "kappa": round(kappa(one, other), 2),
        "same_mark": sum(len(set(row["marks"])) == 1 for row in marks),
        "pairs": len(marks),
        "folders": len({row["folder"] for row in marks}),
    }


def _share(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How many are genuine, with Wilson's interval."""
    from scipy.stats import binomtest  # takes a second

    genuine = sum(map(is_genuine, rows))
    if not rows:
        return {"n": 0, "genuine": 0}
    interval = binomtest(genuine, len(rows)).proportion_ci(method="wilson")
    share = {"value": genuine / len(rows), "low": interval.low, "high": interval.high}
    return {"n": len(rows), "genuine": genuine} | {name: round(value, 2) for name, value in share.items()}


def cost(rag: DiscoRAG) -> dict[str, Any]:
    """Processor seconds for a million words: to encode every sentence once, to read the stored documents, to audit.

    The time after one document changed is the shortest of three runs, because other programs slow short runs down.
    """

    def read() -> list[AuditDocument]:
        return [d for version in read_project(rag, "scrapy") for d in version]

    documents = read()
    scale = 1e6 / _words(documents)
    bodies = [s.body for d in documents for s in d.sentences]
    some = random.Random(0).sample(bodies, ENCODED)
    encoding = _seconds(lambda: rag.run(lambda: rag.backends.encoder.encode_documents(some))) * len(bodies) / ENCODED
    whole = _seconds(lambda: audit(documents))
    runs = (partial(audit, read(), only={documents[0].id}) for _ in range(3))
    changed = min(map(_seconds, runs))
    return {
        "encoding": round(encoding * scale),
        "reading": round(_seconds(read) * scale, 1),
        "audit": round(whole * scale),
        "passes": round((encoding + whole) / encoding, 2),
        "one_document_changed": round(changed * scale, 1),
    }


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _words(documents: Iterable[AuditDocument]) -> int:
    return sum(len(s.text.split()) for d in documents for s in d.sentences)


MEASURED = (planted, wikicontradict, ramdocs, recall, unrelated_false, filings, precision_by_hand, cost)
KEYS: dict[str, Callable[[DiscoRAG], dict[str, Any]]] = {f.__name__: f for f in MEASURED}


def main(
    keys: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(KEYS)}; default: all.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, write, show."""
    if unknown := set(keys or ()) - KEYS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(KEYS)}.")
    with open_product(HOME) as rag:
        figures = {key: KEYS[key](rag) for key in keys or KEYS}
    Console().print(report.table(report.write(out, figures).figures))


if __name__ == "__main__":
    typer.run(main)
