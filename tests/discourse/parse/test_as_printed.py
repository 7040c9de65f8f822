"""The paper's drawing of a tree: what we write is what we read, and anything else is refused with what to change."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discorag.discourse.parse.as_printed import read
from discorag.schema.discourse import PAPER_RELATIONS, Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from tests.strategies import chunk_over, shifted, texts, trees, trees_over

_TRAPS = (
    "[1] ", "[2]", "(N)", "(N", "(n = 12)", "share(s)", "(S): CAUSE", "(S)",
    "ROOT[1-2]", "|--- NUCLEUS[1] x (N)", "EDUs:\n", "\nRST ANALYSIS:\n",
    "TREE STRUCTURE:", "RELATION(EDU1, EDU2): CAUSE", "12", ": JOINT", "{CAUSE}", "&amp;lt;", "🧪", "\r\n", "\n\n",
    "\x0b", "\u2028", "</chunk>",
)  # fmt: skip
_units = (
    st.lists(st.one_of(st.sampled_from(_TRAPS), texts), min_size=1, max_size=3).map("".join).map(str.strip).filter(bool)
)


@st.composite
def _chunks(draw: st.DrawFn) -> Chunk:
    """A chunk with any tree over any text, its relations among the paper's 24."""
    text, units = draw(st.sampled_from(["", " ", "\n"])), list[Span]()
    for piece in draw(st.lists(_units, min_size=1, max_size=8)):
        units.append(Span(start=len(text), end=len(text) + len(piece)))
        text += piece + draw(st.sampled_from(["", " ", "\n\n", "\u3000"]))
    offset = draw(st.integers(0, 999))
    tree = draw(trees_over(shifted(tuple(units), offset)))
    relations = st.sampled_from(PAPER_RELATIONS)
    splits = {(s.start, s.end): s.model_copy(update={"relation": draw(relations)}) for s in tree.splits}
    return chunk_over(text, from_splits(tree.edus, splits), offset)


_TEXT = "Vitamin D helps if you are deficient. Zinc does not."
_CHUNK = chunk_over(
    _TEXT,
    RstTree(
        edus=(Span(start=0, end=15), Span(start=16, end=37), Span(start=38, end=52)),
        splits=(
            Split(start=0, mid=2, end=3, relation=Relation.CONTRAST, nuclearity=Nuclearity.NN),
            Split(start=0, mid=1, end=2, relation=Relation.CONDITION, nuclearity=Nuclearity.NS),
        ),
    ),
)
_DRAWN = """EDUs:
[1] Vitamin D helps
[2] if you are deficient.
[3] Zinc does not.
RST ANALYSIS:
RELATION(EDU3, EDU1): CONTRAST
RELATION(EDU2, EDU1): CONDITION
TREE STRUCTURE:
ROOT[1-3]
|--- NUCLEUS[1-2] (N)
|   |--- NUCLEUS[1] Vitamin D helps (N)
|   |--- SATELLITE[2] if you are deficient. (S): CONDITION
|--- NUCLEUS[3] Zinc does not. (N): CONTRAST"""


def drawn(chunk: Chunk) -> str:
    """A reply that draws the chunk's tree, every EDU on one line."""
    tree = chunk.tree
    assert tree is not None
    texts = [" ".join(chunk.slice(edu).split()) for edu in tree.edus]
    edus = [f"[{i}] {text}" for i, text in enumerate(texts, start=1)]
    pairs = [_pair(tree, split) for split in tree.splits]
    root = f"ROOT[{_name(0, len(texts))}]"
    return "\n".join(["EDUs:", *edus, "RST ANALYSIS:", *pairs, "TREE STRUCTURE:", root, *_nodes(tree, texts)])


def _pair(tree: RstTree, split: Split) -> str:
    left, right = tree.head(split.start, split.mid) + 1, tree.head(split.mid, split.end) + 1
    first, second = (left, right) if split.nuclearity is Nuclearity.SN else (right, left)
    return f"RELATION(EDU{first}, EDU{second}): {split.relation}"


def _nodes(tree: RstTree, texts: list[str]) -> Iterator[str]:
    stack = [(0, len(texts), 0, "")]
    while stack:
        start, end, depth, line = stack.pop()
        if line:
            yield line
        if end - start < 2:
            continue
        split = tree.split_at(start, end)
        sides = [(split.start, split.mid, split.nuclearity[0], ""), (split.mid, split.end, split.nuclearity[1], "N")]
        for low, high, role, named in reversed(sides):
            label = f": {split.relation}" if role == "S" or (named and split.nuclearity is Nuclearity.NN) else ""
            kind = "SATELLITE" if role == "S" else "NUCLEUS"
            text = f" {texts[low]}" if high - low == 1 else ""
            drawing = "|   " * depth + f"|--- {kind}[{_name(low, high)}]{text} ({role}){label}"
            stack.append((low, high, depth + 1, drawing))


def _name(start: int, end: int) -> str:
    return str(end) if end - start == 1 else f"{start + 1}-{end}"


@given(_chunks())
def test_what_is_drawn_is_read_as_the_same_tree(chunk: Chunk) -> None:
    assert read(drawn(chunk), chunk.text, offset=chunk.span.start) == chunk.tree


@given(trees())
def test_the_head_of_a_constituent_lies_in_its_nucleus(tree: RstTree) -> None:
    for s in tree.splits:
        head = tree.head(s.start, s.end)
        assert s.start <= head < s.end
        assert not (s.nuclearity is Nuclearity.SN and head < s.mid)
        assert not (s.nuclearity is Nuclearity.NS and head >= s.mid)
    if tree.splits:
        assert tree.satellite_weight[tree.head(0, len(tree.edus))] == 0


_FLAT = """EDUs:
[1] Vitamin D helps
[2] if you are deficient.
[3] Zinc does not.
RST ANALYSIS:
{analysis}
TREE STRUCTURE:
ROOT[1-3]
|--- {drawing}"""


@pytest.mark.parametrize(
    ("roles", "analysis", "cuts"),
    [
        ("NSS", "", [(0, 2, 3), (0, 1, 2)]),  # both on the nucleus, the nearer one first
        ("NSS", "RELATION(EDU3, EDU2): CAUSE", [(0, 1, 3), (1, 2, 3)]),  # a satellite's own satellite
        ("NSS", "RELATION(EDU2, EDU3): CAUSE\nRELATION(EDU3, EDU2): CAUSE", [(0, 2, 3), (0, 1, 2)]),  # a circle
        ("SNS", "", [(0, 2, 3), (0, 1, 2)]),
        ("SSN", "", [(0, 1, 3), (1, 2, 3)]),
        ("NSN", "RELATION(EDU1, EDU3): CONTRAST", [(0, 2, 3), (0, 1, 2)]),
        ("NSN", "RELATION(EDU2, EDU3): CAUSE\nRELATION(EDU1, EDU3): CONTRAST", [(0, 1, 3), (1, 2, 3)]),
        ("SNN", "RELATION(EDU1, EDU3): CAUSE\nRELATION(EDU3, EDU2): CONTRAST", [(0, 2, 3), (0, 1, 2)]),  # crossing
        ("NNN", "RELATION(EDU1, EDU2): CONTRAST\nRELATION(EDU2, EDU3): SEQUENCE", [(0, 1, 3), (1, 2, 3)]),
    ],
)
def test_the_flat_drawing_of_fig_10_is_read(roles: str, analysis: str, cuts: list[tuple[int, int, int]]) -> None:
    kinds = {"N": "NUCLEUS[{i}] some text (N)", "S": "SATELLITE[{i}] some text (S): ELABORATION"}
    drawing = "\n|--- ".join(kinds[role].format(i=i) for i, role in enumerate(roles, start=1))
    tree = read(_FLAT.format(analysis=analysis, drawing=drawing), _TEXT, offset=0)
    assert [(s.start, s.mid, s.end) for s in tree.splits] == cuts
    heads = [tree.head(0, 3)]
    assert roles[heads[0]] == "N"


_DAMAGED = {
    "no EDUs": (_DRAWN.replace("EDUs:\n", ""), "three parts"),
    "no drawing": (_DRAWN.split("\nTREE", maxsplit=1)[0], "three parts"),
    "cut off before the drawing": (_DRAWN.split("\nROOT", maxsplit=1)[0], "EDUs 1-3 must be cut"),
    "EDU in other words": (_DRAWN.replace("[3] Zinc does not.", "[3] Nor does zinc."), "EDU 3 .*Copy the text"),
    "EDUs numbered from 0": (_DRAWN.replace("[1] Vitamin", "[0] Vitamin", 1), r"numbered \[1\]"),
    "JOINT": (_DRAWN.replace("CONTRAST", "JOINT"), "EDUs 1-3: 'JOINT' is none"),
    "unknown relation": (_DRAWN.replace("CONDITION", "HYPOTHESIS"), "EDUs 1-2: 'HYPOTHESIS' is none"),
    "two satellites": (
        _DRAWN.replace("NUCLEUS[1] Vitamin D helps (N)", "SATELLITE[1] x (S): CAUSE"), "EDUs 1-2: .* a nucleus"),
    "role and name differ": (_DRAWN.replace("SATELLITE[2]", "NUCLEUS[2]"), r"EDUs 2: .* not NUCLEUS \(S\)"),
    "node too many": (_DRAWN + "\n|--- NUCLEUS[2-3] (N)", "1 nodes cross others or"),
    "node twice": (_DRAWN + "\n|--- NUCLEUS[3] (N)", "Two nodes cover EDUs 3"),
    "node backwards": (_DRAWN.replace("NUCLEUS[1-2]", "NUCLEUS[2-1]"), "1 nodes cross others or cover nothing"),
    "a number without end": (_DRAWN.replace("NUCLEUS[3]", "NUCLEUS[" + "3" * 5000 + "]"), "."),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "message"), _DAMAGED.values(), ids=_DAMAGED)
def test_every_damage_is_refused_with_what_to_change(reply: str, message: str) -> None:
    assert reply != _DRAWN
    with pytest.raises(ValueError, match=message) as caught:
        read(reply, _TEXT, offset=0)
    assert len(str(caught.value)) < 400


@st.composite
def _mutated(draw: st.DrawFn) -> tuple[Chunk, str]:
    chunk = draw(_chunks())
    lines = drawn(chunk).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at, edit = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, 4))
        other = draw(st.sampled_from([*_TRAPS, *lines, "", "ROOT[1-99]", "|--- SATELLITE[1-2] (S): CAUSE"]))
        cut = draw(st.integers(0, len(lines[at])))
        lines[at : at + 1] = [
            [],
            [lines[at], other],
            [other],
            [lines[at][:cut] + other + lines[at][cut:]],
            [lines[at][:cut] + lines[at][cut + 1 :]],
        ][edit]
        lines = lines or [""]
    return chunk, "\n".join(lines)


@given(_mutated())
@example((_CHUNK, "EDUs:\nRST ANALYSIS:\nTREE STRUCTURE:\nROOT[1-0]"))
def test_a_damaged_reply_is_a_tree_over_the_text_or_a_value_error(case: tuple[Chunk, str]) -> None:
    chunk, reply = case
    try:
        tree = read(reply, chunk.text, offset=chunk.span.start)
    except ValueError:
        return
    assert "".join("".join(map(chunk.slice, tree.edus)).split()) == "".join(chunk.text.split())
    assert {s.relation for s in tree.splits} <= set(PAPER_RELATIONS)
