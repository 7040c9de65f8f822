"""Which structure finds the evidence? ``python -m bench.retrieval.run`` (``make bench-retrieval``).

Every method of `bench.retrieval.methods` on every dataset, with vectors, with BM25 and with both, at 200, 300 and 400
words, on the development half, where widths are chosen, and the held-out half. No language model. What was measured is
kept under ``.disco-rag/bench``: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import track

from bench.retrieval.chosen import Choice
from bench.retrieval.datasets import DATASETS, load_cases
from bench.retrieval.encode import CachedEncoder, open_encoder
from bench.retrieval.forest_scores import Grown, Scored
from bench.retrieval.measures import BUDGETS, measure
from bench.retrieval.methods import METHODS, SLOW, SUMMARISED, builders
from bench.retrieval.questions import HALVES, Case, as_document
from bench.retrieval.shown import Shown
from bench.retrieval.table import BASELINE, OUT, Row, Scores, markdown, merged, over_budgets, read, rows, write
from discorag.store.outline import leaf_terms
from discorag.text.bm25 import Bm25
from discorag.text.headings import build_hierarchy
from discorag.trees.builder import Builder, Source
from discorag.trees.forest import Forest
from discorag.trees.scores import NodeScores
from discorag.trees.vectors import node_vectors
from discorag.types.errors import ConfigError
from discorag.types.ids import digest
from discorag.types.retrieval_tree import RetrievalTree
from discorag.types.vectors import Vectors
from eval.sample import SourceDocument

WORK = Path(".disco-rag/bench/retrieval")
TABLE = Path("bench/results/retrieval.md")
_BY: tuple[NodeScores, ...] = ("dense", "bm25", "hybrid")
Found = dict[str, dict[str, float]]
"""``method|by|budget|metric`` -> question -> score."""


class Bench:
    """The methods over one encoder.

    Args:
        encoder: With its memory of vectors.
        methods: Keys of `METHODS`.

    Attributes:
        versions: Of the methods' builders: what was measured with others is measured again.
    """

    def __init__(self, encoder: CachedEncoder, methods: Sequence[str]) -> None:
        self._encoder, self._methods = encoder, methods
        self._builders = builders(encoder)
        self.versions = [self._builders[METHODS[m].builder].version for m in methods]
        self._trees: dict[tuple[str, str], RetrievalTree] = {}
        self._forests: dict[tuple[str, str], Grown] = {}
        self._terms: dict[tuple[str, ...], Bm25] = {}
        self._choice = Choice(encoder)

    async def measure(self, cases: Sequence[Case], metrics: Sequence[str]) -> Found:
        """Scores of all methods on questions about the same documents."""
        found: Found = defaultdict(dict)
        queries = [await self._encoder.encode_query(case.question) for case in cases]
        for name in self._methods:
            method = METHODS[name]
            grown = await self._grown(method.builder, method.vectors, cases[0].documents)
            shown = Shown(grown.forest, {d.id: as_document(d) for d in cases[0].documents})
            for case, query in zip(cases, queries, strict=True):
                for by in _BY if method.vectors == "mean" else _BY[:1]:
                    scored = Scored(grown, case.question, query, by)
                    for words in BUDGETS:
                        chosen = shown.places(await self._choice.of(method, scored, words))
                        for metric, value in (await measure(case, chosen, words, metrics)).items():
                            found[f"{name}|{by}|{words}|{metric}"][case.id] = value
        return found

    async def _grown(self, name: str, how: Literal["mean", "text"], documents: Sequence[SourceDocument]) -> Grown:
        if (name, how) not in self._forests:
            trees = {d.id: await self._tree(self._builders[name], d) for d in documents}
            vectors: list[Vectors] = [await node_vectors(tree, self._encoder, how) for tree in trees.values()]
            forest = Forest(trees)
            self._forests[name, how] = Grown(forest, forest.together(vectors), self._bm25(forest.tree))
        return self._forests[name, how]

    def _bm25(self, tree: RetrievalTree) -> Bm25:
        """Most builders have the same leaves."""
        texts = tuple(f"{n.context}\n{n.text}" for n in tree.nodes[: tree.leaves])
        if texts not in self._terms:
            self._terms[texts] = Bm25(leaf_terms(tree))
        return self._terms[texts]

    async def _tree(self, builder: Builder, source: SourceDocument) -> RetrievalTree:
        key = builder.version, source.id
        if key not in self._trees:
            document = as_document(source)
            built = await builder.build(Source(document, build_hierarchy(document)))
            self._trees[key] = built.tree
        return self._trees[key]

    def forget(self) -> None:
        """What questions about the same documents share is not needed any more."""
        self._forests.clear()
        self._terms.clear()


def grouped(cases: Sequence[Case]) -> Iterator[list[Case]]:
    """Questions about the same documents together."""
    groups: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        groups[tuple(d.id for d in case.documents)].append(case)
    yield from groups.values()


def sampled(cases: Sequence[Case], limit: int, pools: int) -> list[Case]:
    """At most ``limit`` questions of each half about at most ``pools`` sets of documents, chosen by ids' digests."""
    groups = sorted(grouped(cases), key=lambda g: digest(json.dumps([d.id for d in g[0].documents])))
    kept = [c for half in HALVES for g in [g for g in groups if g[0].half == half][:pools] for c in g]
    ordered = sorted(kept, key=lambda c: digest(c.id))
    return [c for half in HALVES for c in [c for c in ordered if c.half == half][:limit]]


def metrics_of(dataset: str) -> tuple[str, ...]:
    """What is reported: recall of evidence and documents; of the smoke test also the tokens' F1."""
    chosen = DATASETS[dataset]
    return tuple(m for m in chosen.metrics if chosen.role == "smoke" or m in ("evidence_recall", "document_recall"))


async def run(
    dataset: str,
    encoder: str,
    cases: Sequence[Case],
    folder: Path,
    console: Console,
    names: Sequence[str],
    *,
    cached: bool = False,
) -> list[Scores]:
    """One dataset with one encoder; groups of questions that are on disk are not measured again.

    With ``cached`` nothing is measured: the questions are those whose groups are on disk.
    """
    halves = {c.id: c.half for c in cases}
    whole: Found = defaultdict(dict)
    with open_encoder(encoder) as opened:
        bench = Bench(opened, names)
        for group in track(list(grouped(cases)), description=f"{dataset}, {encoder}", console=console):
            key = digest(json.dumps([dataset, opened.version, names, bench.versions, sorted(c.id for c in group)]))[:24]
            path = folder / f"{key}.json"
            if cached and not path.exists():
                continue
            if not path.exists():
                found = await bench.measure(group, metrics_of(dataset))
                bench.forget()
                path.write_text(json.dumps(found), encoding="utf-8")
            for at, values in json.loads(path.read_text(encoding="utf-8")).items():
                whole[at].update(values)
    return list(_scores(whole, dataset, encoder, halves))


def methods_of(dataset: str, *, slow: bool) -> list[str]:
    """The rows of a dataset, unless some are named."""
    long = DATASETS[dataset].role in ("headline", "smoke")
    return [m for m in METHODS if (long or m not in SUMMARISED) and (slow or m not in SLOW)]


def named_rows(dataset: str, methods: str, against: str, *, slow: bool) -> list[str]:
    """The rows that are named, comma-separated, with flat sentences before them; else those of the dataset.

    Raises:
        ConfigError: There is no row of one of these names.
    """
    asked = [BASELINE, *methods.split(",")] if methods else methods_of(dataset, slow=slow)
    found = list(dict.fromkeys([*asked, against]))
    if unknown := [m for m in found if m not in METHODS]:
        raise ConfigError(f"There is no row {unknown[0]!r}.", hint=f"There are {', '.join(METHODS)}.")
    return found


def _scores(found: Found, dataset: str, encoder: str, halves: dict[str, str]) -> Iterator[Scores]:
    for at, values in found.items():
        method, by, budget, metric = at.split("|")
        for half in HALVES:
            own = {q: v for q, v in sorted(values.items()) if halves[q] == half}
            if own:
                shown = {"dense": encoder, "bm25": "bm25", "hybrid": f"{encoder}+bm25"}[by]
                yield Scores(
                    dataset=dataset,
                    half=half,
                    method=method,
                    encoder=shown,
                    budget=int(budget),
                    metric=metric,
                    values=own,
                )


def _tables(found: Sequence[Row]) -> str:
    tables = (
        (f"### {metric}, {half}, mean over {BUDGETS} words", markdown(found, metric=metric, budget="all", half=half))
        for metric in ("evidence_recall", "document_recall", "token_f1")
        for half in HALVES
    )
    return "\n".join(f"{title}\n\n{text}" for title, text in tables if text)


def main(
    datasets: Annotated[str, typer.Option(help="Comma-separated; all if empty.")] = "",
    encoders: Annotated[str, typer.Option(help="minilm, folders or names on the hub, comma-separated.")] = "minilm",
    limit: Annotated[int, typer.Option(help="Questions of each half of a dataset, at most.")] = 1000,
    pools: Annotated[int, typer.Option(help="Sets of documents that those of a half are about, at most.")] = 1000,
    methods: Annotated[str, typer.Option(help="Rows beside flat sentences, comma-separated; all if empty.")] = "",
    slow: Annotated[bool, typer.Option(help="Also rows with every inner node's text, or the larger parser.")] = False,
    against: Annotated[str, typer.Option(help="The row that gains are counted from.")] = BASELINE,
    cached: Annotated[bool, typer.Option(help="Only tell what a run that was stopped has measured.")] = False,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    table: Annotated[Path, typer.Option(help="Markdown table.")] = TABLE,
) -> None:
    """Measure, show, write; figures of the result file that are not measured again stay in it."""
    if against != BASELINE and (out == OUT or table == TABLE):
        raise ConfigError(f"{OUT} counts gains from {BASELINE}.", hint="Name another file with --out and --table.")
    console = Console()
    WORK.mkdir(parents=True, exist_ok=True)
    scores: dict[tuple[str, ...], Scores] = {}
    for encoder in encoders.split(","):
        for dataset in datasets.split(",") if datasets else DATASETS:
            named = named_rows(dataset, methods, against, slow=slow)
            cases = sampled(load_cases(dataset), limit, pools)
            for one in asyncio.run(run(dataset, encoder, cases, WORK, console, named, cached=cached)):
                scores[one.dataset, one.half, one.method, one.encoder, str(one.budget), one.metric] = one
    single = scores.values() if against == BASELINE else ()
    new = rows([*single, *over_budgets(scores.values())], against)
    found = merged(read(out), new) if out.exists() else new
    write(found, out)
    table.write_text(_tables(found), encoding="utf-8")
    console.print(_tables(new))
    console.print(f"Written to {out} and {table}.")


if __name__ == "__main__":
    typer.run(main)
