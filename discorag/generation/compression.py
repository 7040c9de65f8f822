"""A chunk shortened to a budget by its tree: satellites go before nuclei, and never what changes a nucleus's meaning.

What may go is a *group*: a satellite with all that cannot outlive it. Groups go one by one, the one under most
satellite links first, each counted by its confidence, of two equal ones the later in the text, until the text fits.
What was dropped is listed.

Source: Marcu (2000), "The Theory and Practice of Discourse Parsing and Summarization" (a unit matters the more, the
fewer satellite links lie above it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from itertools import compress as chosen

from pydantic import BaseModel, ConfigDict

from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError
from discorag.schema.values import Span
from discorag.text import cues
from discorag.text.tokens import TokenCounter

GAP = "[...]"
"""Stands where EDUs are missing, with a space on each side that has text."""

PROTECTED = frozenset({Relation.ATTRIBUTION, Relation.CONDITION, Relation.CONCESSION, Relation.PURPOSE})
"""Relations whose satellite goes only together with its nucleus: who says it, when it holds, what speaks against it.

PURPOSE is among them because the purpose of an instruction is its condition: "To erase the disk, press F2" does not
say "Press F2".
"""

_LIMITS = re.compile(r"\b(?:unless|only (?:if|when)|except)\b|除非|只有", re.IGNORECASE)
_GUARDS = (_LIMITS, cues.NEGATION, cues.ATTRIBUTION)


class Dropped(BaseModel):
    """An EDU that was left out: its index, span and text, and the relation of the nearest satellite link above it."""

    model_config = ConfigDict(frozen=True)

    edu: int
    span: Span
    text: str
    relation: Relation


class Compressed(BaseModel):
    """What is left of a chunk.

    Args:
        text: The kept EDUs in text order, verbatim with what stands between neighbours; `GAP` where EDUs are missing.
        kept: Their zero-based indices in the chunk's tree, ascending; at least one.
        dropped: The other EDUs, in text order.
        tree: The chunk's tree over the kept EDUs; splits with one side left are gone, spans are unchanged.
        over_budget: Even the shortest text that keeps its meaning, which this is, exceeds the budget.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    kept: tuple[int, ...]
    dropped: tuple[Dropped, ...]
    tree: RstTree
    over_budget: bool


@dataclass(frozen=True)
class _Link:
    """A satellite link: the link above it, how many of them there are to it and how sure, and where its EDUs start."""

    above: int
    depth: int
    weight: float
    start: int
    relation: Relation


_ROOT = _Link(above=0, depth=0, weight=0, start=0, relation=Relation.JOINT)  # link 0: the whole text, which never goes


def compress(chunk: Chunk, budget: int, count: Callable[[str], int] | TokenCounter) -> Compressed:
    """The longest of the chunk's shortened texts that fits; all of it, if that does.

    A larger budget keeps the same EDUs or more. Time is n log n for n EDUs, apart from the up to n texts that are put
    together and counted.

    Args:
        chunk: With its tree.
        budget: Tokens that the text may have, gap marks included.
        count: Tokens of a text, or what locates them (special tokens are not counted).

    Raises:
        InvariantError: The chunk has no tree.
    """
    if chunk.tree is None:
        raise InvariantError(
            f"Chunk {chunk.order} of document {chunk.doc_id} has no tree to compress it by.",
            hint="Parse it first (discorag.discourse.parse.parser), or leave compression off.",
        )
    leaves_at, relations = _departures(chunk, chunk.tree)
    step, over = _first_fit(chunk, chunk.tree, leaves_at, budget, _counting(count))
    kept, edus = _kept(leaves_at, step), enumerate(zip(chunk.tree.edus, relations, strict=True))
    gone = ((i, edu, relation) for i, (edu, relation) in edus if leaves_at[i] <= step)
    return Compressed(
        text=_text(chunk, chunk.tree, kept),
        kept=kept,
        dropped=tuple(Dropped(edu=i, span=edu, text=chunk.slice(edu), relation=r) for i, edu, r in gone),
        tree=_restricted(chunk.tree, kept),
        over_budget=over,
    )


def compressed(chunk: Chunk, budget: int, count: Callable[[str], int] | TokenCounter) -> Chunk:
    """The chunk with the tree and the sentences that are left of it; unchanged if it has no tree.

    Its text stays, since offsets refer to it: who shows the chunk shows the EDUs of its tree, with `GAP` between.
    """
    if chunk.tree is None:
        return chunk
    tree = compress(chunk, budget, count).tree
    kept = [s for s in chunk.sentences if any(s.contains(e) or e.contains(s) for e in tree.edus)]
    return _with(chunk, kept, tree)


def narrowed(chunk: Chunk, evidence: Sequence[Span]) -> Chunk:
    """The chunk with the sentences, and the part of its tree, that overlap the evidence; unchanged if none does.

    Its text stays: see `compressed`.

    Args:
        chunk: With or without a tree.
        evidence: Spans in document offsets.
    """
    kept = [s for s in chunk.sentences if _meets(s, evidence)]
    if not kept or len(kept) == len(chunk.sentences):
        return chunk
    edus = [i for i, e in enumerate(chunk.tree.edus) if _meets(e, kept)] if chunk.tree else []
    return _with(chunk, kept, _restricted(chunk.tree, edus) if chunk.tree and edus else None)


def shown_text(chunk: Chunk) -> str:
    """The text of a chunk's sentences, with `GAP` where `narrowed` took some away."""
    parts: list[str] = []
    at = chunk.span.start
    for sentence in chunk.sentences:
        between = chunk.text[at - chunk.span.start : sentence.start - chunk.span.start]
        parts += [f" {GAP} " if between.strip() else between, chunk.slice(sentence)]
        at = sentence.end
    rest = chunk.text[at - chunk.span.start :]
    return "".join([*parts, f" {GAP}" if rest.strip() else rest]).strip()


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span.start < o.end and o.start < span.end for o in others)


def _with(chunk: Chunk, kept: Sequence[Span], tree: RstTree | None) -> Chunk:
    gone = frozenset(chunk.sentences) - frozenset(kept)
    paragraphs = (i - sum(s in gone for s in chunk.sentences[:i]) for i in chunk.paragraph_starts)
    starts = tuple(sorted({i for i in paragraphs if 0 < i < len(kept)}))
    staying = [s not in gone for s in chunk.sentences]
    aligned = {"kinds": tuple(chosen(chunk.kinds, staying)), "leads": tuple(chosen(chunk.leads, staying))}
    update = {"tree": tree, "sentences": tuple(kept), "paragraph_starts": starts, **aligned}
    return chunk.model_copy(update=update)


def _departures(chunk: Chunk, tree: RstTree) -> tuple[list[int], list[Relation]]:
    """For each EDU the step at which it goes (from 1; of those that stay, after the last), and by what it hangs."""
    links, nearest = _satellite_links(tree)
    steps = _steps(links, _groups(links, nearest, [chunk.slice(edu) for edu in tree.edus]))
    return [steps[link] for link in nearest], [links[link].relation for link in nearest]


def _counting(count: Callable[[str], int] | TokenCounter) -> Callable[[str], int]:
    if callable(count):
        return count
    return lambda text: len(count.token_offsets([text])[0])


def _satellite_links(tree: RstTree) -> tuple[list[_Link], list[int]]:
    """The satellite links, each after the one above it, and for each EDU the index of the nearest above it."""
    links, above = [_ROOT], {(0, len(tree.edus)): 0}
    for split in tree.splits:
        upper = above[split.start, split.end]
        left = right = upper
        if split.nuclearity is Nuclearity.NS:
            right = len(links)
            links.append(_below(links, upper, split, split.mid))
        elif split.nuclearity is Nuclearity.SN:
            left = len(links)
            links.append(_below(links, upper, split, split.start))
        above[split.start, split.mid], above[split.mid, split.end] = left, right
    return links, [above[i, i + 1] for i in range(len(tree.edus))]


def _below(links: Sequence[_Link], above: int, split: Split, start: int) -> _Link:
    upper, sure = links[above], 1.0 if split.confidence is None else split.confidence
    return _Link(above, upper.depth + 1, upper.weight + sure, start, split.relation)


def _groups(links: Sequence[_Link], nearest: Sequence[int], texts: Sequence[str]) -> list[int]:
    """For each link the link with which its EDUs go: its own, or its nucleus's if it is protected."""
    guarded = {link for link, text in zip(nearest, texts, strict=True) if any(g.search(text) for g in _GUARDS)}
    groups = [0]
    for i, link in enumerate(links[1:], start=1):
        bound = link.relation in PROTECTED or i in guarded
        groups.append(groups[link.above] if bound else i)
    return groups


def _steps(links: Sequence[_Link], groups: Sequence[int]) -> list[int]:
    """For each link the step at which its group goes, from 1; the root's group would go after the last."""
    order = sorted({*groups} - {0}, key=lambda i: (-links[i].weight, -links[i].depth, -links[i].start))
    step_of = {i: step for step, i in enumerate([*order, 0], start=1)}
    return [step_of[group] for group in groups]


def _first_fit(
    chunk: Chunk, tree: RstTree, leaves_at: Sequence[int], budget: int, count: Callable[[str], int]
) -> tuple[int, bool]:
    """The first step after which the text fits, and False; without one, the step with the shortest text, and True.

    Every step is looked at in turn, because a gap may take more tokens than the EDU that it stands for.
    """
    sizes: list[int] = []
    for step in range(max(leaves_at)):
        sizes.append(count(_text(chunk, tree, _kept(leaves_at, step))))
        if sizes[-1] <= budget:
            return step, False
    return sizes.index(min(sizes)), True


def _kept(leaves_at: Sequence[int], step: int) -> tuple[int, ...]:
    return tuple(i for i, leaves in enumerate(leaves_at) if leaves > step)


def _text(chunk: Chunk, tree: RstTree, kept: Sequence[int]) -> str:
    staying, parts = set(kept), list[str]()
    for stays, run in groupby(range(len(tree.edus)), key=lambda i: i in staying):
        stretch = [tree.edus[i] for i in run]
        whole = Span(start=stretch[0].start, end=stretch[-1].end)
        parts.append(chunk.slice(whole) if stays else GAP)
    return " ".join(parts)


def _restricted(tree: RstTree, kept: Sequence[int]) -> RstTree:
    """The tree over the kept EDUs, renumbered from 0."""
    staying = set(kept)
    before = list(accumulate((int(i in staying) for i in range(len(tree.edus))), initial=0))  # kept EDUs before each
    moved = ((before[s.start], before[s.mid], before[s.end], s) for s in tree.splits)
    splits = tuple(
        s.model_copy(update={"start": start, "mid": mid, "end": end})
        for start, mid, end, s in moved
        if start < mid < end
    )
    return RstTree(edus=tuple(tree.edus[i] for i in kept), splits=splits)
