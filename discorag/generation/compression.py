"""A chunk shortened to a budget by its tree: satellites go before nuclei, and never what changes a nucleus's meaning.

What may go is a *group*: a satellite with all that cannot outlive it. Groups go one by one, the one under most
satellite links first, each counted by its confidence, of two equal ones the later in the text, until the text fits.

Source: Marcu (2000), "The Theory and Practice of Discourse Parsing and Summarization" (a unit matters the more, the
fewer satellite links lie above it).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from itertools import compress as chosen

from discorag.schema.discourse import Nuclearity, Relation, RstTree
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text import cues
from discorag.text.tokens import TokenCounter

GAP = "[...]"
"""Shown in place of missing EDUs, with a space on each side that has text."""

PROTECTED = frozenset({Relation.ATTRIBUTION, Relation.CONDITION, Relation.CONCESSION, Relation.PURPOSE})
"""Relations whose satellite goes only together with its nucleus: who says it, when it holds, what speaks against it.

PURPOSE is among them because the purpose of an instruction is its condition: "To erase the disk, press F2" does not
say "Press F2".
"""

_LIMITS = re.compile(r"\b(?:unless|only (?:if|when)|except)\b|除非|只有", re.IGNORECASE)
_GUARDS = (_LIMITS, cues.NEGATION, cues.ATTRIBUTION)


@dataclass(frozen=True)
class _Link:
    """A satellite link: the link above it, how many lie above and how sure they are, and where its EDUs start."""

    above: int
    depth: int
    weight: float
    start: int
    relation: Relation


_ROOT = _Link(above=0, depth=0, weight=0, start=0, relation=Relation.JOINT)  # link 0: the whole text, which never goes


def compress(chunk: Chunk, budget: int, tokens: TokenCounter) -> Chunk:
    """Return the chunk with the tree and the sentences that remain within a budget; without a tree it is unchanged.

    Its text stays, since offsets refer to it: prompts show the EDUs of its tree, with `GAP` between them. The budget is
    in tokens, gaps included, special tokens not. A larger budget keeps the same EDUs or more. Where nothing fits, the
    shortest text that keeps its meaning is taken.
    """
    if chunk.tree is None:
        return chunk
    tree = _restricted(chunk.tree, _first_fit(chunk, chunk.tree, budget, tokens))
    remaining = [s for s in chunk.sentences if any(s.contains(e) or e.contains(s) for e in tree.edus)]
    return _with(chunk, remaining, tree)


def narrow(chunk: Chunk, evidence: Sequence[Span]) -> Chunk:
    """The chunk with the sentences, and the part of its tree, that overlap the evidence; unchanged if none does.

    The evidence is in document offsets. The chunk's text stays: see `compress`.
    """
    remaining = [s for s in chunk.sentences if _meets(s, evidence)]
    if not remaining or len(remaining) == len(chunk.sentences):
        return chunk
    edus = [i for i, e in enumerate(chunk.tree.edus) if _meets(e, remaining)] if chunk.tree else []
    return _with(chunk, remaining, _restricted(chunk.tree, edus) if chunk.tree and edus else None)


def shown_text(chunk: Chunk) -> str:
    """The text of a chunk's sentences, with `GAP` where some are missing."""
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


def _with(chunk: Chunk, remaining: Sequence[Span], tree: RstTree | None) -> Chunk:
    gone = frozenset(chunk.sentences) - frozenset(remaining)
    paragraphs = (i - sum(s in gone for s in chunk.sentences[:i]) for i in chunk.paragraph_starts)
    starts = tuple(sorted({i for i in paragraphs if 0 < i < len(remaining)}))
    staying = [s not in gone for s in chunk.sentences]
    aligned = {"kinds": tuple(chosen(chunk.kinds, staying)), "leads": tuple(chosen(chunk.leads, staying))}
    update = {"tree": tree, "sentences": tuple(remaining), "paragraph_starts": starts, **aligned}
    return chunk.model_copy(update=update)


def _first_fit(chunk: Chunk, tree: RstTree, budget: int, tokens: TokenCounter) -> list[int]:
    """Indices of the EDUs that remain after the first step whose text fits; if none does, of the shortest text.

    Every step is tried in turn, because a gap may take more tokens than the EDUs that it replaces.
    """
    leaves_at = _steps(chunk, tree)
    shortest, remaining = float("inf"), list[int]()
    for step in range(max(leaves_at)):
        staying = [i for i, leaves in enumerate(leaves_at) if leaves > step]
        size = len(tokens.token_offsets([_text(chunk, tree, staying)])[0])
        if size < shortest:
            shortest, remaining = size, staying
        if size <= budget:
            break
    return remaining


def _steps(chunk: Chunk, tree: RstTree) -> list[int]:
    """For each EDU the step at which it goes, from 1; those that always stay would go after the last."""
    links, nearest = _satellite_links(tree)
    pairs = zip(nearest, tree.edus, strict=True)
    guarded = {link for link, edu in pairs if any(guard.search(chunk.slice(edu)) for guard in _GUARDS)}
    groups = [0]  # for each link the link with which its EDUs go: its own, or its nucleus's if it is protected
    for i, link in enumerate(links[1:], start=1):
        groups.append(groups[link.above] if link.relation in PROTECTED or i in guarded else i)
    order = sorted({*groups} - {0}, key=lambda i: (-links[i].weight, -links[i].depth, -links[i].start))
    step_of = {group: step for step, group in enumerate([*order, 0], start=1)}
    return [step_of[groups[link]] for link in nearest]


def _satellite_links(tree: RstTree) -> tuple[list[_Link], list[int]]:
    """The satellite links, each after the one above it, and for each EDU the index of the nearest above it."""
    links, above = [_ROOT], {(0, len(tree.edus)): 0}
    for split in tree.splits:
        upper = above.pop((split.start, split.end))
        sides = {side: upper for side in ((split.start, split.mid), (split.mid, split.end))}
        if split.nuclearity is not Nuclearity.NN:
            satellite = max(sides) if split.nuclearity is Nuclearity.NS else min(sides)
            sides[satellite] = len(links)
            sure = 1.0 if split.confidence is None else split.confidence
            depth, weight = links[upper].depth + 1, links[upper].weight + sure
            links.append(_Link(upper, depth, weight, satellite[0], split.relation))
        above |= sides
    return links, [above[i, i + 1] for i in range(len(tree.edus))]


def _text(chunk: Chunk, tree: RstTree, remaining: Sequence[int]) -> str:
    staying, parts = set(remaining), list[str]()
    for stays, run in groupby(range(len(tree.edus)), key=lambda i: i in staying):
        stretch = [tree.edus[i] for i in run]
        whole = Span(start=stretch[0].start, end=stretch[-1].end)
        parts.append(chunk.slice(whole) if stays else GAP)
    return " ".join(parts)


def _restricted(tree: RstTree, remaining: Sequence[int]) -> RstTree:
    """The tree over the kept EDUs, renumbered from 0."""
    staying = set(remaining)
    before = list(accumulate((int(i in staying) for i in range(len(tree.edus))), initial=0))  # kept EDUs before each
    moved = ((before[s.start], before[s.mid], before[s.end], s) for s in tree.splits)
    splits = tuple(
        s.model_copy(update={"start": start, "mid": mid, "end": end})
        for start, mid, end, s in moved
        if start < mid < end
    )
    return RstTree(edus=tuple(tree.edus[i] for i in remaining), splits=splits)
