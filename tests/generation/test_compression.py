"""Compression of a chunk by nuclearity: what goes first, what never goes alone, and what is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from discorag.discourse.parse.inline import lay_out
from discorag.generation.compression import GAP, PROTECTED, compress
from discorag.generation.prompted.conversation import evidence_block
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.tokens import TokenCounter
from nodes.context import AnswerContext
from tests.inputs import inputs_from
from tests.strategies import chunk_over, parsed_texts, trees_over

NS, SN, NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN
Link = tuple[int, int, int, Relation, Nuclearity]


@dataclass(frozen=True)
class Counter:
    """Counts words, or characters."""

    by_character: bool = False
    max_tokens: int = 512
    special_tokens: int = 0

    def count(self, text: str) -> int:
        return len(text) if self.by_character else len(text.split())

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[(0, 1)] * self.count(text) for text in texts]


words, characters = Counter(), Counter(by_character=True)
counters = st.sampled_from([words, characters])
budgets = st.integers(-1, 60)


def parsed(*edus: str, links: tuple[Link, ...], offset: int = 100) -> Chunk:
    """The EDUs with a space between them, from character ``offset`` of their document."""
    spans: list[Span] = []
    for edu in edus:
        start = spans[-1].end + 1 if spans else offset
        spans.append(Span(start=start, end=start + len(edu)))
    splits = {(a, c): Split(start=a, mid=b, end=c, relation=r, nuclearity=n) for a, b, c, r, n in links}
    return chunk_over(" ".join(edus), from_splits(tuple(spans), splits), offset)


@st.composite
def parsed_chunks(draw: st.DrawFn) -> Chunk:
    """Any text full of traps, or plain words, under any tree."""
    if draw(st.booleans()):
        return chunk_over(*draw(parsed_texts()))
    phrases = st.sampled_from(["tides rise", "it does not", "he said so", "a b c d"])
    edus = draw(st.lists(phrases, min_size=1, max_size=9))
    plain = parsed(*edus, links=tuple((0, i, i + 1, Relation.JOINT, NN) for i in range(1, len(edus))))
    return plain.model_copy(update={"tree": draw(trees_over(tree_of(plain).edus))})


def tree_of(chunk: Chunk) -> RstTree:
    assert chunk.tree is not None
    return chunk.tree


def kept_by(chunk: Chunk, budget: int, tokens: TokenCounter) -> list[int]:
    """Indices of the EDUs that remain."""
    return [tree_of(chunk).edus.index(edu) for edu in tree_of(compress(chunk, budget, tokens)).edus]


def text_of(chunk: Chunk, budget: int = 0, tokens: TokenCounter = words) -> str:
    """The remaining text as prompts show it, on one line."""
    return " ".join(lay_out(compress(chunk, budget, tokens), "plain", gap=GAP).split())


def kept_share(split: Split, kept: set[int]) -> tuple[set[int], set[int]]:
    """The kept EDUs of a split's nucleus and of its satellite."""
    left, right = kept & set(range(split.start, split.mid)), kept & set(range(split.mid, split.end))
    return (right, left) if split.nuclearity is SN else (left, right)


@given(parsed_chunks(), budgets, budgets, counters)
def test_a_larger_budget_keeps_the_same_edus_or_more(chunk: Chunk, a: int, b: int, tokens: Counter):
    assert set(kept_by(chunk, min(a, b), tokens)) <= set(kept_by(chunk, max(a, b), tokens))


@given(parsed_chunks(), counters)
def test_a_budget_of_the_whole_text_keeps_the_whole_chunk(chunk: Chunk, tokens: Counter):
    assert compress(chunk, tokens.count(chunk.text), tokens) == chunk


@given(parsed_chunks(), budgets, counters)
def test_what_remains_keeps_its_nuclei_and_what_changes_their_meaning(chunk: Chunk, budget: int, tokens: Counter):
    kept, tree = set(kept_by(chunk, budget, tokens)), tree_of(chunk)
    assert tree.head(0, len(tree.edus)) in kept
    for split in tree.splits:
        nucleus, other = kept_share(split, kept)
        assert nucleus or not other, split
        if split.nuclearity is NN or split.relation in PROTECTED:
            assert bool(nucleus) == bool(other), split


@given(parsed_chunks(), budgets, counters)
def test_the_tree_is_over_the_kept_edus_with_their_heads(chunk: Chunk, budget: int, tokens: Counter):
    kept, tree = kept_by(chunk, budget, tokens), tree_of(chunk)
    left = tree_of(compress(chunk, budget, tokens))
    assert left == RstTree.model_validate_json(left.model_dump_json())
    assert kept == sorted(kept)
    assert kept[left.head(0, len(kept))] == tree.head(0, len(tree.edus))
    for split in left.splits:  # each is a split of the whole tree, between the same EDUs
        a, b, c, d = (kept[i] for i in (split.start, split.mid - 1, split.mid, split.end - 1))
        label = (split.relation, split.nuclearity)
        over = [s for s in tree.splits if s.start <= a <= b < s.mid <= c <= d < s.end]
        assert label in [(s.relation, s.nuclearity) for s in over], split


def test_the_deepest_satellite_goes_first_and_of_two_alike_the_later():
    causes = (
        (0, 3, 4, Relation.ELABORATION, NS),
        (0, 1, 3, Relation.CAUSE, NS),
        (1, 2, 3, Relation.EVIDENCE, NS),
    )
    tides = parsed("The sea rises.", "The moon pulls it.", "It is near.", "Ships wait.", links=causes)
    assert [text_of(tides, budget) for budget in (12, 11, 9, 8, 7)] == [
        tides.text,
        "The sea rises. The moon pulls it. [...] Ships wait.",
        "The sea rises. The moon pulls it. [...]",
        "The sea rises. The moon pulls it. [...]",
        "The sea rises. [...]",
    ]


@pytest.mark.parametrize("relation", ["ATTRIBUTION", "CONDITION", "CONCESSION", "PURPOSE"])
@pytest.mark.parametrize("nuclearity", [NS, SN])
def test_what_changes_its_nucleus_stays_with_it_and_goes_with_it(relation: str, nuclearity: Nuclearity):
    pair = (1, 2, 3, Relation(relation), nuclearity)
    root = parsed("Sit down.", "one", "two", links=((0, 1, 3, Relation.CAUSE, SN), pair))
    assert text_of(root) == "[...] one two"
    below = parsed("Sit down.", "one", "two", links=((0, 1, 3, Relation.CAUSE, NS), pair))
    assert text_of(below) == text_of(below, 3) == "Sit down. [...]"


@pytest.mark.parametrize(
    "satellite",
    [
        "It does not in children.",
        "unless it rains",
        "only if the dose is high",
        "the minister said",
        "除非下雨",
        "没有效果",
    ],
)
def test_words_that_limit_or_deny_or_attribute_protect_under_any_relation(satellite: str):
    guarded = parsed("It works.", satellite, links=((0, 1, 2, Relation.ELABORATION, NS),))
    assert text_of(guarded) == guarded.text


_DOCTORS = ("It works.", "Doctors tried it.", "They did not hurry.")
_AUTUMN = ("Stay in", "if it rains,", "as in autumn.")


@pytest.mark.parametrize(
    ("edus", "outer", "inner", "left"),
    [
        pytest.param(_DOCTORS, "EVIDENCE", "ELABORATION", "It works. [...]", id="a guarded EDU inside a satellite"),
        pytest.param(_AUTUMN, "CONDITION", "EXAMPLE", "Stay in if it rains, [...]", id="below a protected satellite"),
    ],
)
def test_protection_reaches_no_further_than_the_link_itself(edus: tuple[str, ...], outer: str, inner: str, left: str):
    assert text_of(parsed(*edus, links=((0, 1, 3, Relation(outer), NS), (1, 2, 3, Relation(inner), NS)))) == left


async def test_a_compressed_chunk_has_fewer_sentences_and_prompts_show_the_gaps(encoder: Encoder):
    text = "Bees dance. For example, they waggle. Therefore others find food. Flowers bloom in May."
    [whole] = (await inputs_from({"a": text}, "bees", encoder)).chunks
    smaller = compress(whole, 12, encoder.tokens)
    assert smaller.sentences == tree_of(smaller).edus  # rules make a sentence an EDU
    assert len(smaller.sentences) < len(whole.sentences)
    assert smaller.text == whole.text
    shown = evidence_block(AnswerInputs(query="bees", chunks=(smaller,)))
    assert GAP in shown
    assert all((whole.slice(s) in shown) == (s in smaller.sentences) for s in whole.sentences)


@pytest.mark.parametrize("switches", [{"use_tree": False}, {"preset": "paper"}])
def test_compression_needs_our_trees(switches: dict[str, Any]):
    with pytest.raises(ValidationError, match="compress_to"):
        AnswerContext(compress_to=50, **switches)
