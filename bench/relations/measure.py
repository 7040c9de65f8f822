"""How good and how fast the learned graph engine is: ``python -m bench.relations.measure``.

Relatedness, direction and families on the test part of GUM, contradictions on SICK, labels on ``pairs.jsonl``. Writes
``bench/results/relations.json``. Differences to baselines have 95 % intervals of a paired bootstrap: over documents for
GUM, over pairs elsewhere.
"""

from __future__ import annotations

import asyncio
import csv
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from discorag.disagreement.detection import effects_opposed, opposed
from discorag.disagreement.statement import Compared as Pair
from discorag.disagreement.statement import Statement
from discorag.models.encoder import PackagedEncoder
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.relations.learned import LearnedGraphEngine
from discorag.relations.model import FAMILIES, FIRST, NEITHER, SECOND, load_model
from discorag.relations.rules import RuleGraphEngine
from discorag.relations.stated import INVERSE, cues_in, opening_relation
from discorag.text.chunks import cut_chunks
from discorag.text.headings import build_hierarchy
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.document import Document, Scope
from discorag.types.graph import Edge
from eval.options import data_folder
from training.parser.gum import GumDocument, load_gum
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


def binary_f1(said: Ints, gold: Ints) -> float:
    """F1 of class 1; 0 if nothing is said and nothing right."""
    hits = int(((said == 1) & (gold == 1)).sum())
    return 2 * hits / max(1, int((said == 1).sum() + (gold == 1).sum()))


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


def gum(part: Examples, marked: Ints, weights: Path | None, seed: int) -> dict[str, Any]:
    """All figures on pairs of GUM with the packaged weights or others."""
    said = (load_model(weights) if weights else load_model()).read(part.one, part.other, part.same)
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
    for name, same in (("direction_accuracy", True), ("direction_accuracy_across", False)):
        known = (part.same == same) & np.isin(part.orientation, (FIRST, SECOND)) & (part.source != "pdtb")
        gold = part.orientation[known]
        baselines = {"majority": np.full(len(gold), SECOND if same else FIRST)}
        ours = said.orientation[known, :NEITHER].argmax(axis=1)
        found[name] = Compared(accuracy, gold, part.document[known], ours, baselines if same else {}).report(seed)
    return found


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
    found = {"coarse_macro_f1": compared.report(seed)}
    across = ~part.same & (part.family >= 0)
    found["coarse_macro_f1_across"] = {"value": _short(macro_f1(ours[across], part.family[across]))}
    return found


async def sick(folder: Path, encoder: Encoder, seed: int) -> dict[str, Any]:
    """Contradictions among sentence pairs that nothing was trained on."""
    rows = [
        row
        for name in ("SICK_train.txt", "SICK_trial.txt")
        for row in csv.DictReader((folder / name).read_text(encoding="utf-8").splitlines(), delimiter="\t")
    ]
    left, right = ([r[k] + "." for r in rows] for k in ("sentence_A", "sentence_B"))
    a, b = await encoder.encode_documents(left), await encoder.encode_documents(right)
    cosine = np.einsum("ij,ij->i", a, b)
    pairs = [Pair(Statement(x), Statement(y), float(c)) for x, y, c in zip(left, right, cosine, strict=True)]
    ours, claims = (np.array([int(o.relation is not None) for o in by(pairs)]) for by in (opposed, effects_opposed))
    gold = np.array([int(r["entailment_judgment"] == "CONTRADICTION") for r in rows])
    baselines = {
        "majority": np.zeros_like(gold),
        "effect claims only (RuleGraphEngine)": claims,
        "one of the two is negated": np.array([int(p.a.denied != p.b.denied) for p in pairs]),
    }
    found = Compared(binary_f1, gold, np.arange(len(gold)), ours, baselines).report(seed)
    hits = int((ours & gold).sum())
    return {**found, "precision": _short(hits / max(1, ours.sum())), "recall": _short(hits / gold.sum())}


def chunks_of(document: Document, encoder: Encoder) -> list[Chunk]:
    """A document's chunks of 256 tokens, without trees."""
    hierarchy = build_hierarchy(document)
    return cut_chunks(document, hierarchy, scope=Scope(), fingerprint="bench", counter=encoder.tokens)


async def speed(documents: Sequence[GumDocument], encoder: Encoder, repeats: int = 5) -> dict[str, Any]:
    """Seconds for 50 chunks whose sentences are encoded, and for encoding them."""
    chunks = [c for d in documents for c in chunks_of(Document(uri=d.id, title=d.id, text=d.text), encoder)[:2]][:50]
    case, memo = Case(query="bench", chunks=tuple(chunks)), MemoEncoder(encoder)
    start = time.perf_counter()
    await memo.encode_documents([c.slice(s) for c in chunks for s in c.sentences])
    encoding = time.perf_counter() - start
    taken, judged = list[float](), ()
    for _ in range(repeats):
        cues_in.cache_clear()
        start = time.perf_counter()
        judged = await LearnedGraphEngine(memo).judge(case)
        taken.append(time.perf_counter() - start)
    return {
        "seconds_50_chunks": _short(float(np.median(taken))),
        "seconds_50_chunks_encoder": _short(encoding),
        "ordered_pairs": len(judged),
        "sentences": sum(len(c.sentences) for c in chunks),
    }


async def labels(encoder: Encoder, seed: int) -> dict[str, Any]:
    """Every pair of ``pairs.jsonl`` as two chunks of two documents, the target ranked first, for both engines."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    names = list(ChunkRelation)
    said: dict[str, list[int]] = {"learned": [], "rules": []}
    for row in track(rows, description="pairs"):
        target, source = (chunks_of(Document(uri=k, title=k, text=row[k]), encoder)[0] for k in ("target", "source"))
        case = Case(query="bench", chunks=(target, source))
        for name, engine in (("learned", LearnedGraphEngine(encoder)), ("rules", RuleGraphEngine(encoder))):
            graph = (await engine.relate(case)).value
            said[name].append(names.index(_label(graph.edges, source.id)))
    gold = np.array([names.index(ChunkRelation(r["label"])) for r in rows])
    arrays = {name: np.array(s) for name, s in said.items()}
    clusters = np.arange(len(gold))
    found: dict[str, Any] = {
        name: Compared(metric, gold, clusters, arrays["learned"], {"RuleGraphEngine": arrays["rules"]}).report(seed)
        for name, metric in (("accuracy", accuracy), ("macro_f1", macro_f1))
    }
    related = names.index(ChunkRelation.UNRELATED)
    found["related_accuracy"] = {n: _short(accuracy(s == related, gold == related)) for n, s in arrays.items()}
    found["confusion"] = {n: _confusion(s, gold) for n, s in arrays.items()}
    return found


def _label(edges: Sequence[Edge], source: str) -> ChunkRelation:
    """The label from the source to the target: an edge the other way round counts by its inverse."""
    if not edges:
        return ChunkRelation.UNRELATED
    edge = edges[0]
    return edge.relation if edge.source == source else INVERSE.get(edge.relation, ChunkRelation.UNRELATED)


def _confusion(said: Ints, gold: Ints) -> dict[str, dict[str, int]]:
    """For each gold label how often which label was said."""
    names = list(ChunkRelation)
    return {
        names[g]: {names[s]: int(((said == s) & (gold == g)).sum()) for s in np.unique(said[gold == g])}
        for g in np.unique(gold)
    }


async def measured(all_genres: Path | None, seed: int) -> dict[str, Any]:
    """Everything."""
    folder, encoder = data_folder(), PackagedEncoder()
    documents = load_gum(folder / "gum", "test")
    found: dict[str, Any] = await speed(documents, encoder)
    sentences = await asyncio.to_thread(encoded, documents, encoder)
    groups = groups_of(documents, sentences, folder / "gum", seed=seed)
    part, marked = examples_of(groups), markers_of(groups)
    found |= gum(part, marked, None, seed)
    found["contradiction_f1_sick"] = await sick(folder / "sick", encoder, seed)
    if all_genres:
        found["trained_on_all_genres"] = gum(part, marked, all_genres, seed)
    if PAIRS.exists():
        found["pairs"] = await labels(encoder, seed)
    return found


def main(
    all_genres: Annotated[Path | None, typer.Option(help="Weights trained with --genres all, to compare.")] = None,
    out: Path = OUT,
    seed: int = 1,
) -> None:
    """Measure and write."""
    found = asyncio.run(measured(all_genres, seed))
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    Console().print({k: v for k, v in found.items() if k != "pairs"})


if __name__ == "__main__":
    typer.run(main)
