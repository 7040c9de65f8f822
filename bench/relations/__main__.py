"""How good the learned graph engine is: ``python -m bench.relations`` (``make bench-relations``).

Relatedness, direction and families on the test part of GUM, labels on ``pairs.jsonl``. Writes
``bench/results/relations.json``. Differences to baselines have 95 % intervals of a paired bootstrap: over documents for
GUM, over pairs for the labels.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from bench.answers.replies import package_version
from discorag.discourse.relate.learned import FAMILIES, FIRST, NEITHER, SECOND, LearnedGraphEngine, load_model
from discorag.discourse.relate.rules import RuleGraphEngine
from discorag.discourse.relate.stated import INVERSE, opening_relation
from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation, Edge
from discorag.schema.document import Chunk, Document, Scope
from eval.options import data_folder
from training.parser.gum import load_gum
from training.relations.pairs import Group, groups_of
from training.relations.train import Examples, auc, encoded, examples_of, macro_f1

PAIRS = Path(__file__).parent / "pairs.jsonl"
OUT = Path("bench/results/relations.json")
RESAMPLES = 1000
_COSINE, _DISTANCE = 0, -1  # columns of the pair features
_MARKED = len(FAMILIES)

Ints = NDArray[np.int64]
Scores = NDArray[np.float32]
Metric = Callable[[Any, Ints], float]


@dataclass(frozen=True)
class Compared:
    """A metric of the engine and of baselines on the same items, which fall into clusters."""

    metric: Metric
    gold: Ints
    clusters: Ints
    ours: NDArray[Any]
    baselines: dict[str, NDArray[Any]]

    def report(self, seed: int) -> dict[str, Any]:
        """Values, and our value minus each baseline's with its interval."""
        value = self.metric(self.ours, self.gold)
        chance = np.random.default_rng(seed)
        where: list[Ints] = [np.flatnonzero(self.clusters == c) for c in np.unique(self.clusters)]
        chosen = chance.integers(0, len(where), (RESAMPLES, len(where)))
        draws: list[Ints] = [np.concatenate([where[int(i)] for i in row]) for row in chosen]
        ours = [self.metric(self.ours[d], self.gold[d]) for d in draws]
        found: dict[str, Any] = {"value": _short(value), "n": len(self.gold), "baselines": {}}
        for name, said in self.baselines.items():
            theirs = self.metric(said, self.gold)
            differences = [o - self.metric(said[d], self.gold[d]) for o, d in zip(ours, draws, strict=True)]
            low, high = np.quantile(differences, [0.025, 0.975])
            interval = [_short(low), _short(high)]
            found["baselines"][name] = {"value": _short(theirs), "ours_minus": _short(value - theirs), "95 %": interval}
        return found


def _short(value: float) -> float:
    return round(float(value), 4)


def accuracy(said: Ints, gold: Ints) -> float:
    """Share that is right."""
    return float((said == gold).mean())


def markers_of(groups: Sequence[Group]) -> Ints:
    """For every example, the family that the second passage's opening states; `_MARKED` where it states none."""
    found: list[int] = []
    for group in groups:
        for pair in group.pairs:
            second = group.passages[pair.second]
            relation = opening_relation(second.sentences[second.first])
            family = FAMILIES.index(relation) if relation in FAMILIES else _MARKED
            found += [family] * (1 if pair.source == "neighbour" else 2)
    return np.array(found)


def gum(part: Examples, marked: Ints, seed: int) -> dict[str, Any]:
    """All figures on pairs of GUM."""
    said = load_model().read(part.one, part.other, part.same)
    found: dict[str, Any] = {}
    for name, same in (("same_document", True), ("same_query", False)):
        known = (part.same == same) & (part.related >= 0)
        baselines = {"majority": np.zeros(known.sum()), "cosine": part.one.between[known, _COSINE]}
        baselines["markers"] = (marked[known] != _MARKED).astype(np.float32)
        if same:
            baselines["distance"] = -part.one.between[known, _DISTANCE]
        compared = Compared(auc, part.related[known], part.document[known], said.related[known], baselines)
        found[f"related_auc_{name}"] = compared.report(seed)
    found |= _labels(part, said.family.argmax(axis=1), marked, seed)
    known = part.same & np.isin(part.orientation, (FIRST, SECOND)) & (part.source != "pdtb")
    gold, ours = part.orientation[known], said.orientation[known, :NEITHER].argmax(axis=1)
    compared = Compared(accuracy, gold, part.document[known], ours, {"majority": np.full(len(gold), SECOND)})
    return found | {"direction_accuracy": compared.report(seed)}


def _labels(part: Examples, ours: Ints, marked: Ints, seed: int) -> dict[str, Any]:
    """Families of related pairs; where an opening states none, the marker baseline says ELABORATES as rules do."""
    known = part.same & (part.family >= 0)
    gold = part.family[known]
    stated = marked[known]
    elaborates = FAMILIES.index(ChunkRelation.ELABORATES)
    baselines = {
        "majority": np.full(len(gold), np.bincount(gold).argmax()),
        "markers": np.where(stated == _MARKED, elaborates, stated),
    }
    compared = Compared(macro_f1, gold, part.document[known], ours[known], baselines)
    return {"coarse_macro_f1": compared.report(seed)}


def chunks_of(document: Document, encoder: Encoder) -> list[Chunk]:
    """A document's chunks of 256 tokens, without trees."""
    hierarchy = build_hierarchy(document)
    return cut_chunks(document, hierarchy, scope=Scope(), fingerprint="bench", counter=encoder.tokens)


async def labels(encoder: Encoder, seed: int) -> dict[str, Any]:
    """Every pair of ``pairs.jsonl`` as two chunks of two documents, the target ranked first, for both engines."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    names = list(ChunkRelation)
    said: dict[str, list[int]] = {"learned": [], "rules": []}
    for row in track(rows, description="pairs"):
        target, source = (chunks_of(Document(uri=k, title=k, text=row[k]), encoder)[0] for k in ("target", "source"))
        inputs = AnswerInputs(query="bench", chunks=(target, source))
        for name, engine in (("learned", LearnedGraphEngine(encoder)), ("rules", RuleGraphEngine(encoder))):
            graph = (await engine.relate(inputs)).value
            said[name].append(names.index(_label(graph.edges, source.id)))
    gold = np.array([names.index(ChunkRelation(r["label"])) for r in rows])
    arrays = {name: np.array(s) for name, s in said.items()}
    clusters = np.arange(len(gold))
    return {
        name: Compared(metric, gold, clusters, arrays["learned"], {"RuleGraphEngine": arrays["rules"]}).report(seed)
        for name, metric in (("accuracy", accuracy), ("macro_f1", macro_f1))
    }


def _label(edges: Sequence[Edge], source: str) -> ChunkRelation:
    """The label from the source to the target: an edge the other way round counts by its inverse."""
    if not edges:
        return ChunkRelation.UNRELATED
    edge = edges[0]
    return edge.relation if edge.source == source else INVERSE.get(edge.relation, ChunkRelation.UNRELATED)


async def measured(seed: int) -> dict[str, Any]:
    """Everything."""
    folder, encoder = data_folder(), PackagedEncoder()
    documents = load_gum(folder / "gum", "test")
    sentences = await asyncio.to_thread(encoded, documents, encoder)
    groups = groups_of(documents, sentences, folder / "gum", seed=seed)
    found = gum(examples_of(groups), markers_of(groups), seed)
    return found | {"pairs": await labels(encoder, seed)}


def main(out: Path = OUT, seed: int = 1) -> None:
    """Measure and write."""
    found = {"commit": package_version(), "figures": asyncio.run(measured(seed))}
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    Console().print(found)


if __name__ == "__main__":
    typer.run(main)
