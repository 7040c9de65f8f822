"""Hypothesis strategies for the core's types."""

from bisect import bisect_left

from hypothesis import strategies as st

from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.values import Span

_TRAPS = (
    "{1<cond}", "{2=join}", "{0<elab}", "||", "|", "<", "</chunk>", '<chunk id="2">', "&", "&amp;", "&#124;", "&lt;",
    "&amp;amp;", "{{chunk}}", "```", "However, ", "因此", "。", "。 ", "🧪", "👩\u200d🔬", "e\u0301", "\u200b",
    "\u3000", "\xa0", "\n\n", " ",
)  # fmt: skip

texts = st.lists(st.one_of(st.sampled_from(_TRAPS), st.text(max_size=8)), max_size=12).map("".join)
"""Any text, rich in what looks like our own markup, and possibly empty or blank."""

_space = st.sampled_from(["", " ", "\n", "\n\n", "\u3000 ", " \t"])


@st.composite
def spans(draw: st.DrawFn, *, max_end: int = 10_000) -> Span:
    """A span that ends at ``max_end`` at the latest."""
    start = draw(st.integers(0, max_end - 1))
    return Span(start=start, end=draw(st.integers(start + 1, max_end)))


@st.composite
def span_sequences(draw: st.DrawFn, *, max_size: int = 12) -> tuple[Span, ...]:
    """One or more disjoint spans in order, with or without gaps between them."""
    n = draw(st.integers(1, max_size))
    steps = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=n, max_size=n))
    found: list[Span] = []
    at = 0
    for gap, length in steps:
        found.append(Span(start=at + gap, end=at + gap + length))
        at = found[-1].end
    return tuple(found)


@st.composite
def labels(draw: st.DrawFn) -> tuple[Relation, Nuclearity]:
    """A relation and a nuclearity that go together."""
    relation = draw(st.sampled_from(list(Relation)))
    return relation, Nuclearity.NN if relation is Relation.JOINT else draw(st.sampled_from(list(Nuclearity)))


@st.composite
def trees_over(draw: st.DrawFn, edus: tuple[Span, ...]) -> RstTree:
    """Any binary tree over ``edus``: every order of cutting the gaps gives one."""
    cuts = [0, len(edus)]
    splits: dict[tuple[int, int], Split] = {}
    for mid in draw(st.permutations(range(1, len(edus)))):
        at = bisect_left(cuts, mid)
        start, end = cuts[at - 1], cuts[at]
        relation, nuclearity = draw(labels())
        splits[start, end] = Split(start=start, mid=mid, end=end, relation=relation, nuclearity=nuclearity)
        cuts.insert(at, mid)
    return from_splits(edus, splits)


def trees(*, max_edus: int = 12) -> st.SearchStrategy[RstTree]:
    """Any tree over any disjoint spans."""
    return span_sequences(max_size=max_edus).flatmap(trees_over)


@st.composite
def segmented(draw: st.DrawFn, *, max_units: int = 10) -> tuple[str, tuple[Span, ...]]:
    """A text and the spans of its units, which hold all of it but the white space around and between them."""
    unit = texts.map(str.strip).filter(bool)
    text, found = draw(_space), list[Span]()
    for piece in draw(st.lists(unit, min_size=1, max_size=max_units)):
        found.append(Span(start=len(text), end=len(text) + len(piece)))
        text += piece + draw(_space)
    return text, tuple(found)


def shifted(units: tuple[Span, ...], offset: int) -> tuple[Span, ...]:
    """The spans ``offset`` characters further on."""
    return tuple(Span(start=s.start + offset, end=s.end + offset) for s in units)


@st.composite
def parsed_texts(draw: st.DrawFn, *, max_edus: int = 10) -> tuple[str, RstTree, int]:
    """A chunk's text, a tree over it in document offsets, and the offset at which the text starts."""
    text, units = draw(segmented(max_units=max_edus))
    offset = draw(st.integers(0, 10_000))
    return text, draw(trees_over(shifted(units, offset))), offset


def chunk_over(
    text: str, tree: RstTree | None = None, offset: int = 0, *, sentences: tuple[Span, ...] = (), id: str = "c"
) -> Chunk:
    """A chunk of the text, from character ``offset`` of its document; one sentence, unless others are given."""
    span = Span(start=offset, end=offset + len(text))
    return Chunk(id=id, doc_id="d", order=0, span=span, text=text, sentences=sentences or (span,), tree=tree)


@st.composite
def chunks(draw: st.DrawFn, *, max_sentences: int = 10) -> Chunk:
    """A chunk without a tree, its sentences, and any of them the start of a paragraph."""
    text, units = draw(segmented(max_units=max_sentences))
    offset = draw(st.integers(0, 10_000))
    starts = draw(st.sets(st.integers(1, len(units)))) - {len(units)}
    chunk = chunk_over(text, None, offset, sentences=shifted(units, offset))
    return chunk.model_copy(update={"paragraph_starts": tuple(sorted(starts))})
