"""Fit the scorer, the stop and the refusal: ``python -m training.answers DATA HOME``.

Evidence is collected once, below HOME. Writes `discorag/answer/weights`; what each group of features is worth, and how
much is told, into ``bench/results/scorer.json``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from discorag.answer import answerable, fit
from discorag.answer.features import GROUPS, NAMES, features
from discorag.answer.scorer import WEIGHTS as SCORER
from discorag.answer.stop import WEIGHTS as STOP
from discorag.answer.words import said_in
from discorag.claims.units import UnitTable, units_in
from discorag.models.encoder import PackagedEncoder
from discorag.models.protocol import Encoder
from training.answers import listwise, stopping
from training.answers.collect import Example, collect
from training.answers.listwise import Ranked

RESULTS = Path("bench/results/scorer.json")
_HARD = 2.0
"""Weight of CLAPNQ, whose passages are near the question also where they do not answer it."""


def examples(home: Path, part: str) -> Iterator[Example]:
    """As `collect` left them."""
    for file in sorted(home.glob(f"{part}-*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            yield from map(Example.model_validate_json, lines)


class Vectors:
    """Vectors of texts, each encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Any] = {}

    async def of(self, texts: Sequence[str]) -> Any:
        """Shape (len(texts), d)."""
        if new := list(dict.fromkeys(t for t in texts if t not in self._known)):
            self._known.update(zip(new, await self._encoder.encode_documents(new), strict=True))
        return np.stack([self._known[t] for t in texts])


def alone(example: Example) -> Example:
    """The question asked of one document: the one that answers it, or else the nearest of those that do not."""
    wanted = example.gold.keys() if example.answerable else {example.chunks[0].doc_id}
    return example.model_copy(update={"chunks": tuple(c for c in example.chunks if c.doc_id in wanted)})


async def ranked(found: Sequence[Example], vectors: Vectors) -> list[Ranked]:
    """The statements of every question that has gold evidence."""
    made: list[Ranked] = []
    for example in (e for e in found if e.answerable and e.gold):
        units = units_in(example.chunks)
        [query] = await vectors.of([example.query])
        table = UnitTable(units, await vectors.of([u.plain or u.text for u in units]))
        kept = np.array([u.statement for u in units], bool)
        gold = np.array([_is_gold(example, i, table) for i in range(len(units))], bool)
        if kept.any():
            rows = features(example.case, table, query)[kept]
            said = said_in(example.case)
            said = replace(said, forms=said.forms[kept], meanings=said.meanings[kept])
            made.append(Ranked(example.dataset, example.group, rows, gold[kept], said))
    return made


def _is_gold(example: Example, i: int, table: UnitTable) -> bool:
    unit = table.units[i]
    spans = example.gold.get(example.chunks[unit.chunk - 1].doc_id, ())
    return any(unit.span.start < s.end and s.start < unit.span.end for s in spans)


async def evidence(found: Sequence[Example], vectors: Vectors) -> Any:
    """`answerable.evidence_features` of every question, shape (questions, features)."""
    rows: list[Any] = []
    for e in found:
        [query] = await vectors.of([e.query])
        rows.append(answerable.evidence_features(e.case, await vectors.of([c.text for c in e.chunks]), query))
    return np.stack(rows)


def hits(questions: Sequence[Ranked], columns: Sequence[int]) -> dict[str, float]:
    """By dataset the share of questions whose best unit, by weights fitted without their group, is gold."""
    scores = listwise.held_out(questions, columns)
    found: dict[str, list[bool]] = {}
    for q, s in zip(questions, scores, strict=True):
        found.setdefault(q.dataset, []).append(bool(q.gold[int(s.argmax())]))
    return {name: round(100 * float(np.mean(h)), 1) for name, h in found.items()}


def ablation(questions: Sequence[Ranked]) -> dict[str, dict[str, float]]:
    """`hits` with all features, with the cosine alone, and without each group."""
    every = range(len(NAMES))
    told = {"all": hits(questions, every), "unit cosine alone": hits(questions, [0])}
    for group, names in GROUPS.items():
        told[f"without {group}"] = hits(questions, [i for i in every if NAMES[i] not in names])
    return told


def _weights(found: Sequence[Example]) -> Any:
    """Each dataset counts by the root of its size."""
    sizes = {name: sum(e.dataset == name for e in found) for name in {e.dataset for e in found}}
    raw = np.array([(_HARD if e.dataset == "clapnq" else 1.0) / sizes[e.dataset] ** 0.5 for e in found])
    return raw / raw.mean()


def shown(told: dict[str, dict[str, float]]) -> Table:
    """A row a set of features, a column a dataset."""
    table = Table("gold first, %", *(names := list(told["all"])))
    for name, values in told.items():
        table.add_row(name, *(str(values[n]) for n in names))
    return table


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where the evidence is kept.")],
) -> None:
    """Collect, fit, write. Of Natural Questions the refusal also sees one document alone, as CLAPNQ asks."""
    asyncio.run(collect(data, home, "train"))
    encoder = PackagedEncoder()
    vectors, found = Vectors(encoder), [e for e in examples(home, "train") if e.chunks]
    questions = asyncio.run(ranked(found, vectors))
    useful = listwise.useful(questions)
    scorer, relevance = listwise.fit(useful, NAMES)
    stops, ladders = stopping.fit(useful, relevance)
    for file, fitted in ((SCORER, scorer), (STOP, stops)):
        file.write_text(fitted.model_dump_json(indent=1) + "\n", "utf-8")
    found += [short for e in found if e.dataset == "nq_open_oracle" and (short := alone(e)).chunks]
    rows, told = asyncio.run(evidence(found, vectors)), np.array([e.answerable for e in found])
    groups = [f"{e.dataset}|{e.group}" for e in found]
    model = fit.fit(rows, told, groups, answerable.kind_of(encoder), _weights(found))
    target = answerable.WEIGHTS / "answerable.json"
    target.write_text(json.dumps([model.model_dump()], indent=1) + "\n", "utf-8")
    result = ablation(questions)
    RESULTS.write_text(
        json.dumps({"questions": len(questions), "gold_first": result, "stop": ladders}, indent=1) + "\n", "utf-8"
    )
    Console().print(shown(result))


if __name__ == "__main__":
    typer.run(main)
