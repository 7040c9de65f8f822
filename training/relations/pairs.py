"""Pairs of passages with their relation, made of GUM: what the learned graph engine is trained and tested on.

A positive pair is what a split of the gold tree joins: its two sides, or, over a document cut into chunks, the most
nuclear chunk of either side. Negative pairs are chunks of one document that only a node near the root joins, and the
nearest passages of other documents.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from discorag.discourse.relate.learned import FIRST, NEITHER, SECOND
from discorag.discourse.relate.passages import Passage
from discorag.schema.discourse import ChunkRelation, Nuclearity
from discorag.schema.values import Span, Vectors
from training.parser.gold import merged
from training.parser.gum import GoldSplit, GumDocument

_R = ChunkRelation
OF_GUM: Mapping[str, ChunkRelation] = {
    "elaboration-additional": _R.ELABORATES, "elaboration-attribute": _R.ELABORATES,
    "evaluation-comment": _R.ELABORATES, "mode-manner": _R.ELABORATES, "mode-means": _R.ELABORATES,
    "attribution-positive": _R.ELABORATES, "attribution-negative": _R.ELABORATES,
    "joint-list": _R.SUPPLEMENTS, "joint-other": _R.SUPPLEMENTS, "joint-disjunction": _R.SUPPLEMENTS,
    "joint-sequence": _R.FOLLOWS,
    "context-background": _R.BACKGROUND_FOR, "context-circumstance": _R.BACKGROUND_FOR,
    "organization-preparation": _R.BACKGROUND_FOR,
    "adversative-antithesis": _R.COMPARES_WITH, "adversative-concession": _R.COMPARES_WITH,
    "adversative-contrast": _R.COMPARES_WITH,
    "explanation-evidence": _R.SUPPORTS, "restatement-partial": _R.SUPPORTS, "restatement-repetition": _R.SUPPORTS,
    "explanation-justify": _R.JUSTIFIES, "explanation-motivation": _R.MOTIVATES, "topic-solutionhood": _R.MOTIVATES,
    "causal-cause": _R.CAUSES, "causal-result": _R.RESULTS_FROM,
}  # fmt: skip
"""GUM's labels. Headings, phatic openings, questions and same-unit are no relations between chunks; purpose and
condition join two passages too seldom to be learned (26 of 10,047 splits)."""

OF_PDTB: Mapping[str, int] = {
    "expansion.level-of-detail.arg2-as-detail": SECOND, "expansion.level-of-detail.arg1-as-detail": FIRST,
    "expansion.instantiation.arg2-as-instance": SECOND, "expansion.instantiation.arg1-as-instance": FIRST,
    "expansion.substitution.arg2-as-subst": SECOND, "expansion.substitution.arg1-as-subst": FIRST,
    "contingency.cause.reason": SECOND, "contingency.cause.result": SECOND,
    "contingency.purpose.arg2-as-goal": FIRST, "contingency.purpose.arg1-as-goal": SECOND,
    "contingency.condition.arg2-as-cond": SECOND, "contingency.condition.arg1-as-cond": FIRST,
    "comparison.concession.arg2-as-denier": FIRST, "comparison.concession.arg1-as-denier": SECOND,
    "expansion.conjunction": NEITHER, "expansion.disjunction": NEITHER, "expansion.equivalence": NEITHER,
    "comparison.contrast": NEITHER, "comparison.similarity": NEITHER,
    "temporal.asynchronous.precedence": NEITHER, "temporal.asynchronous.succession": NEITHER,
    "temporal.synchronous": NEITHER,
}  # fmt: skip
"""PDTB senses: which argument is the satellite. Their classes, as labels, made the families worse on dev."""

_SIZES = (40, 90, 170)  # words of a chunk, by cut; 256 tokens are about 170 words
_LONGEST = 200  # words of one side of a split
_NEGATIVES = 2  # for each positive pair
_NEAREST = 3  # neighbours from which one is drawn
_SIMILAR_LENGTH = 0.3  # difference of two lengths' logarithms


@dataclass(frozen=True)
class Pair:
    """Two passages of a group, the first earlier where they are of one document.

    Args:
        first: Index into the group's passages.
        second: Likewise.
        related: Whether a relation holds directly between them; None where nothing is to be learned of that: sides of
            splits and PDTB's arguments, which differ in length from the unrelated pairs.
        family: Of `discorag.discourse.relate.learned.FAMILIES`; None for unrelated pairs and PDTB's.
        orientation: FIRST, SECOND or NEITHER; None for unrelated pairs.
        source: ``tree`` (two sides of a split), ``chunks``, ``pdtb``, or ``neighbour`` (another document).
    """

    first: int
    second: int
    related: bool | None
    family: ChunkRelation | None
    orientation: int | None
    source: str


@dataclass
class Group:
    """A document's passages and pairs, with passages of other documents at the end."""

    document: GumDocument
    passages: list[Passage] = field(default_factory=list[Passage])
    pairs: list[Pair] = field(default_factory=list[Pair])


@dataclass(frozen=True)
class Sentences:
    """A document's sentences with their unit vectors."""

    texts: tuple[str, ...]
    vectors: Vectors


def groups_of(
    documents: Sequence[GumDocument], sentences: Mapping[str, Sentences], folder: Path, *, seed: int
) -> list[Group]:
    """All pairs of the documents, reproducibly.

    Args:
        documents: Of one part of the corpus.
        sentences: By document id.
        folder: Of the corpus.
        seed: Of the cuts and of the choice of negatives.
    """
    groups = [_group(d, sentences[d.id], folder, random.Random(f"{seed}-{d.id}")) for d in documents]
    _add_neighbours(groups, random.Random(seed))
    return groups


def _group(document: GumDocument, known: Sentences, folder: Path, chance: random.Random) -> Group:
    group = Group(document)
    maker = _Maker(group, known)
    for split in merged(document, document.sentences)[1]:
        maker.sides(split)
    for size in _SIZES:
        maker.chunks(_cut(known.texts, size, chance), chance)
    maker.pdtb(folder / "pdtb" / f"{document.id}.rels")
    return group


def _cut(texts: Sequence[str], size: int, chance: random.Random) -> list[range]:
    """Sentences in runs of about ``size`` words, the first shorter by chance."""
    found: list[range] = []
    start, words = 0, chance.randrange(size)
    for i, text in enumerate(texts):
        words += len(text.split())
        if words >= size:
            found.append(range(start, i + 1))
            start, words = i + 1, 0
    return found + ([range(start, len(texts))] if start < len(texts) else [])


@dataclass
class _Maker:
    """Adds passages and pairs to a group."""

    group: Group
    known: Sentences
    index: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def passage(self, run: range) -> int:
        key = (run.start, run.stop)
        if key not in self.index:
            spans = self.group.document.sentences
            passage = Passage(
                self.known.texts[run.start : run.stop],
                self.known.vectors[run.start : run.stop],
                self.group.document.id,
                spans[run.start].start,
                spans[run.stop - 1].end,
            )
            self.index[key] = len(self.group.passages)
            self.group.passages.append(passage)
        return self.index[key]

    def add(self, a: range, b: range, split: GoldSplit | None, source: str) -> None:
        family = OF_GUM.get(split.label) if split else None
        if split and family is None:
            return
        orientation = _orientation(split.nuclearity) if split else None
        related = split is not None if source == "chunks" else None
        pair = Pair(self.passage(a), self.passage(b), related, family, orientation, source)
        self.group.pairs.append(pair)

    def sides(self, split: GoldSplit) -> None:
        """The two sides of a split over sentences, unless one is longer than a chunk or both are single sentences."""
        a, b = range(split.start, split.mid), range(split.mid, split.end)
        if max(map(self._words, (a, b))) <= _LONGEST and len(a) + len(b) > 2:
            self.add(a, b, split, "tree")

    def _words(self, run: range) -> int:
        return sum(len(self.known.texts[i].split()) for i in run)

    def chunks(self, runs: Sequence[range], chance: random.Random) -> None:
        """Chunks joined directly, and as negatives some that only a node over half of the document joins."""
        spans = self.group.document.sentences
        units = [Span(start=spans[r.start].start, end=spans[r.stop - 1].end) for r in runs]
        kept, splits = merged(self.group.document, units)
        by_start = dict(zip((u.start for u in units), runs, strict=True))
        at = [by_start[u.start] for u in kept]
        edges = dict(_edges(splits))
        for (i, j), split in edges.items():
            self.add(at[i], at[j], split, "chunks")
        apart = [p for p in _far_apart(splits, len(at)) if p not in edges]
        close = [p for p in apart if p[1] - p[0] <= 2]
        wanted = min(len(apart), _NEGATIVES * len(edges))
        chosen = chance.sample(close, min(len(close), wanted // 2))
        rest = sorted(set(apart) - set(chosen))
        for i, j in chosen + chance.sample(rest, min(len(rest), wanted - len(chosen))):
            self.add(at[i], at[j], None, "chunks")

    def pdtb(self, path: Path) -> None:
        """PDTB relations between two sentences, found again by their letters."""
        places = {"".join(t.split()): i for i, t in enumerate(self.known.texts)}
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                orientation = OF_PDTB.get(row["orig_label"])
                i, j = (places.get("".join(row[k].split())) for k in ("unit1_sent", "unit2_sent"))
                if orientation is not None and i is not None and j is not None and i != j:
                    one, other = self.passage(range(i, i + 1)), self.passage(range(j, j + 1))
                    self.group.pairs.append(Pair(one, other, None, None, orientation, "pdtb"))


def _orientation(nuclearity: Nuclearity) -> int:
    return {Nuclearity.SN: FIRST, Nuclearity.NS: SECOND, Nuclearity.NN: NEITHER}[nuclearity]


def _edges(splits: Sequence[GoldSplit]) -> Iterator[tuple[tuple[int, int], GoldSplit]]:
    """The most nuclear leaves of the two sides of every split: the tree as dependencies."""
    heads: dict[tuple[int, int], int] = {}
    for s in reversed(splits):
        left, right = heads.get((s.start, s.mid), s.start), heads.get((s.mid, s.end), s.mid)
        heads[s.start, s.end] = right if s.nuclearity is Nuclearity.SN else left
        yield (left, right), s


def _far_apart(splits: Sequence[GoldSplit], n: int) -> list[tuple[int, int]]:
    """Pairs of leaves whose lowest common node covers more than half of the leaves, and more than four."""
    high = [s for s in splits if s.end - s.start > max(4, n // 2)]
    return [(i, j) for i, j in combinations(range(n), 2) if any(s.start <= i < s.mid <= j < s.end for s in high)]


def _add_neighbours(groups: Sequence[Group], chance: random.Random) -> None:
    """To every related pair of chunks one with the same first chunk, and as second a near one of another document.

    It is about as long as the second that it stands for, so that length says nothing.
    """
    chunks = [sorted({i for p in g.pairs if p.source == "chunks" for i in (p.first, p.second)}) for g in groups]
    pool = [(i, g.passages[at]) for i, (g, own) in enumerate(zip(groups, chunks, strict=True)) for at in own]
    means = np.stack([p.mean for _, p in pool])
    owners, words = np.array([i for i, _ in pool]), np.log([1 + len(p.text.split()) for _, p in pool])
    for i, group in enumerate(groups):
        for pair in [p for p in group.pairs if p.related]:
            length = np.log(1 + len(group.passages[pair.second].text.split()))
            fit = np.flatnonzero((owners != i) & (np.abs(words - length) <= _SIMILAR_LENGTH))
            scores = means[fit] @ group.passages[pair.first].mean
            nearest = [int(at) for at in fit[np.argsort(-scores, kind="stable")[:_NEAREST]]]
            if not nearest:
                continue
            group.passages.append(pool[chance.choice(nearest)][1])
            group.pairs.append(Pair(pair.first, len(group.passages) - 1, False, None, None, "neighbour"))
