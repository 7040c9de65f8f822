"""Does an RST tree find the sentences that qualify others? ``python -m bench.qualifiers`` on GUM.

A sentence qualifies another if it is the satellite of a relation that limits what the other claims: who says it, when
it holds, what speaks against it. Gold are the pairs of the gold tree of each chunk; they are compared with those of the
packaged parser, of cue words, of random trees and of the neighbouring sentence. Writes
``bench/results/qualifiers.json``; intervals are of a bootstrap over documents.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from bench.relations.measure import chunks_of
from discorag.answer.compression import PROTECTED
from discorag.models.encoder import PackagedEncoder
from discorag.rst.gum_labels import RELATIONS
from discorag.rst.trained.parser import TrainedParser
from discorag.types.chunk import Chunk
from discorag.types.document import Document
from discorag.types.rst_relations import Nuclearity, Relation
from discorag.types.rst_tree import RstTree, Split, from_splits
from discorag.types.span import Span
from eval.options import data_folder
from training.parser.gold import restricted
from training.parser.gum import GumDocument, load_gum

OUT = Path("bench/results/qualifiers.json")
WIDER = PROTECTED | {Relation.CIRCUMSTANCE, Relation.TEMPORAL, Relation.ANTITHESIS}
"""Exploratory: also when something happens, and what is rejected in its favour."""
RESAMPLES, DRAWS = 5000, 20
Pair = tuple[int, int]
"""Zero-based sentences of a chunk: one, and another that qualifies it."""
Label = tuple[Relation, Nuclearity]
Relations = frozenset[Relation]
Said = list[set[Pair]]
Read = list[tuple[Chunk, RstTree, RstTree]]
"""A document's chunks, each with its gold tree and the parser's."""
Counts = NDArray[np.float64]
"""Right, said and gold pairs, and sentences that get one, in the last axis."""

# What limits the sentence before, who said it, what takes the sentence before back, and who says what comes next.
# Chosen on the training part: "If ..." and "According to ..." mostly qualify their own sentence.
_LIMITS = re.compile(
    r"\W*(?:however|although|except|unless|only (?:if|when)|as long as|provided|otherwise|of course|that is, if"
    r"|this (?:holds|applies|is true) (?:only|for)|image:|credit|citation needed)",
    re.IGNORECASE,
)
_SAID = re.compile(r"\b(?:I|you|he|she|they|[A-Z]\w+) (?:said|says|asked|added|wrote)\.$|^\W*[—–]\s?[A-Z][\w., ]+$")
_REJOINS = re.compile(r"\W*(?:but|yet|nevertheless|nonetheless|even so)\b", re.IGNORECASE)
_ANNOUNCES = re.compile(r"\b(?:says?|said|writes?|wrote|observed|asked|told|quote|according)\b.*:$", re.DOTALL)


def cue_pairs(texts: Sequence[str]) -> set[Pair]:
    """By the words that open or close a sentence, always with a neighbour."""
    found: set[Pair] = set()
    for i, text in enumerate(texts):
        if i and (_LIMITS.match(text) or _SAID.search(text)):
            found.add((i - 1, i))
        elif i and _REJOINS.match(text):
            found.add((i, i - 1))
        if i + 1 < len(texts) and _ANNOUNCES.search(text):
            found.add((i + 1, i))
    return found


def tree_links(chunk: Chunk, tree: RstTree) -> Iterator[tuple[Pair, Label]]:
    """The splits between two sentences: nucleus (or the first of two nuclei) and satellite by their heads."""
    starts = [s.start for s in chunk.sentences]
    for split in tree.splits:
        sides = [(split.start, split.mid), (split.mid, split.end)]
        if split.nuclearity is Nuclearity.SN:
            sides.reverse()
        nucleus, satellite = (bisect_right(starts, tree.edus[tree.head(*side)].start) - 1 for side in sides)
        if nucleus != satellite:
            yield (nucleus, satellite), (split.relation, split.nuclearity)


def tree_pairs(chunk: Chunk, tree: RstTree, relations: Relations) -> set[Pair]:
    """Those whose satellite hangs by one of these relations."""
    links = tree_links(chunk, tree)
    return {pair for pair, (relation, n) in links if relation in relations and n is not Nuclearity.NN}


def gold_tree(document: GumDocument, chunk: Chunk) -> RstTree | None:
    """The document's tree over the EDUs that start in the chunk; None if none does."""
    inside = [i for i, e in enumerate(document.edus) if chunk.span.start <= e.start < chunk.span.end]
    splits: dict[Pair, Split] = {}
    for s in restricted(document.splits, inside):
        plain = Relation.JOINT if s.nuclearity is Nuclearity.NN else Relation.ELABORATION
        splits[s.start, s.end] = Split(
            start=s.start, mid=s.mid, end=s.end, relation=RELATIONS[s.label] or plain, nuclearity=s.nuclearity
        )
    edus = (document.edus[i] for i in inside)
    spans = tuple(Span(start=e.start, end=min(e.end, chunk.span.end)) for e in edus)
    return from_splits(spans, splits) if spans else None


def random_tree(sentences: tuple[Span, ...], labels: Sequence[Label], chance: random.Random) -> RstTree:
    """Cut anywhere, labelled as often as the links between sentences of ``labels`` are."""
    splits: dict[Pair, Split] = {}
    left = [(0, len(sentences))]
    while left:
        start, end = left.pop()
        if end - start > 1:
            mid = chance.randrange(start + 1, end)
            relation, nuclearity = chance.choice(labels)
            splits[start, end] = Split(start=start, mid=mid, end=end, relation=relation, nuclearity=nuclearity)
            left += [(start, mid), (mid, end)]
    return from_splits(sentences, splits)


def said_of(chunk: Chunk, tree: RstTree, relations: Relations, labels: Sequence[Label], seed: int) -> dict[str, Said]:
    """The pairs that each system finds in a chunk; random trees draw more than once."""
    chance, n = random.Random(seed), len(chunk.sentences)
    drawn = (random_tree(chunk.sentences, labels, chance) for _ in range(DRAWS))
    return {
        "tree": [tree_pairs(chunk, tree, relations)],
        "cues": [cue_pairs([chunk.slice(s) for s in chunk.sentences])],
        "random": [tree_pairs(chunk, t, relations) for t in drawn],
        "previous": [{(i, i - 1) for i in range(1, n)}],
        "next": [{(i - 1, i) for i in range(1, n)}],
    }


def measured(texts: Sequence[Read], relations: Relations, labels: Sequence[Label]) -> dict[str, Any]:
    """All figures of one part of GUM."""
    counts: dict[str, Counts] = {}
    for number, text in enumerate(texts):
        for chunk, annotated, tree in text:
            gold = tree_pairs(chunk, annotated, relations)
            for name, draws in said_of(chunk, tree, relations, labels, number).items():
                rows = [(len(s & gold), len(s), len(gold), len({a for a, _ in s})) for s in draws]
                counts.setdefault(name, np.zeros((len(texts), 4)))[number] += np.mean(rows, axis=0)
    sentences = sum(len(chunk.sentences) for text in texts for chunk, *_ in text)
    picked = np.random.default_rng(1).integers(0, len(texts), (RESAMPLES, len(texts)))
    sums = {name: c[picked].sum(axis=1) for name, c in counts.items()}
    of_tree = f1(counts["tree"].sum(axis=0))
    return {
        "documents": len(texts),
        "sentences": sentences,
        "gold_pairs": round(counts["tree"][:, 2].sum()),
        "systems": {name: scored(c.sum(axis=0), sums[name], sentences) for name, c in counts.items()},
        "f1_of_tree_minus": {
            name: [_short(of_tree - f1(c.sum(axis=0))), *interval(f1(sums["tree"]) - f1(sums[name]))]
            for name, c in counts.items()
            if name != "tree"
        },
    }


def scored(total: Counts, sums: Counts, sentences: int) -> dict[str, Any]:
    """A system's figures, and of F1 the interval."""
    right, said, gold, qualified = (float(x) for x in total)
    return {
        "pairs": _short(said),
        "precision": _short(right / said) if said else None,
        "recall": _short(right / gold),
        "f1": [_short(f1(total)), *interval(f1(sums))],
        "sentences_qualified": _short(qualified / sentences),
    }


def f1(counts: Counts) -> Counts:
    """Of one row of counts, or of each."""
    return 2 * counts[..., 0] / np.maximum(1, counts[..., 1] + counts[..., 2])


def interval(values: Counts) -> list[float]:
    """The 95 % percentiles."""
    return [_short(float(x)) for x in np.quantile(values, [0.025, 0.975])]


def _short(value: float | Counts) -> float:
    return round(float(value), 4)


def gold_chunks(part: str, encoder: PackagedEncoder) -> Iterator[list[tuple[Chunk, RstTree]]]:
    """For each document of a part of GUM its chunks, as an ingest cuts them, with their gold trees."""
    for d in load_gum(data_folder() / "gum", part):
        chunks = chunks_of(Document(uri=d.id, title=d.id, text=d.text), encoder)
        yield [(chunk, tree) for chunk in chunks if (tree := gold_tree(d, chunk))]


async def parsed(part: str, encoder: PackagedEncoder, parser: TrainedParser) -> list[Read]:
    """The same with the parser's trees."""
    texts = list(gold_chunks(part, encoder))
    return [[(c, gold, (await parser.parse(c)).tree) for c, gold in text] for text in texts]


def main(out: Annotated[Path, typer.Option(help="Result file.")] = OUT) -> None:
    """Measure, write, show."""
    encoder = PackagedEncoder()
    parser = TrainedParser()
    training = (of_chunk for text in gold_chunks("train", encoder) for of_chunk in text)
    labels = [label for chunk, tree in training for _, label in tree_links(chunk, tree)]
    result: dict[str, Any] = {}
    for part in ("dev", "test"):
        texts = asyncio.run(parsed(part, encoder, parser))
        for name, relations in (("", PROTECTED), ("_wider", WIDER)):
            result[part + name] = measured(texts, relations, labels)
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    Console().print_json(data=result)


if __name__ == "__main__":
    typer.run(main)
