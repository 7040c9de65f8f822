"""Compression of a chunk by nuclearity: what goes first, what never goes alone, and what is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from discorag.generation.compression import GAP, PROTECTED, Compressed, compress, compressed
from discorag.generation.prompted.conversation import evidence_block
from discorag.models.protocol import Encoder
from discorag.models.tokens import PackagedTokens
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError
from discorag.schema.values import Span
from nodes.context import AnswerContext
from tests.inputs import inputs_from
from tests.strategies import parsed_texts, trees_over

Count = Callable[[str], int]
NS, SN, NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN


def words(text: str) -> int:
    return len(text.split())


def chunk_of(text: str, tree: RstTree | None, offset: int = 0) -> Chunk:
    span = Span(start=offset, end=offset + len(text))
    return Chunk(id="c", doc_id="d", order=3, span=span, text=text, sentences=(span,), tree=tree)


def parsed(*edus: str, links: tuple[tuple[int, int, int, Relation, Nuclearity], ...], offset: int = 100) -> Chunk:
    """The EDUs with a space between them, from character ``offset`` of their document."""
    spans: list[Span] = []
    for edu in edus:
        start = spans[-1].end + 1 if spans else offset
        spans.append(Span(start=start, end=start + len(edu)))
    splits = {(a, c): Split(start=a, mid=b, end=c, relation=r, nuclearity=n) for a, b, c, r, n in links}
    return chunk_of(" ".join(edus), from_splits(tuple(spans), splits), offset)


@st.composite
def parsed_chunks(draw: st.DrawFn) -> Chunk:
    """Any text full of traps, or plain words, under any tree."""
    if draw(st.booleans()):
        return chunk_of(*draw(parsed_texts()))
    said = draw(
        st.lists(st.sampled_from(["tides rise", "it does not", "he said so", "a b c d"]), min_size=1, max_size=9)
    )
    plain = parsed(*said, links=tuple((0, i, i + 1, Relation.JOINT, NN) for i in range(1, len(said))))
    return plain.model_copy(update={"tree": draw(trees_over(tree_of(plain).edus))})


counters = st.sampled_from([words, len])
budgets = st.integers(-1, 60)


def tree_of(chunk: Chunk) -> RstTree:
    assert chunk.tree is not None
    return chunk.tree


def kept_share(split: Split, kept: set[int]) -> tuple[set[int], set[int]]:
    """The kept EDUs of a split's nucleus and of its satellite."""
    left, right = kept & set(range(split.start, split.mid)), kept & set(range(split.mid, split.end))
    return (right, left) if split.nuclearity is SN else (left, right)


def shortest(chunk: Chunk) -> Compressed:
    return compress(chunk, 0, words)


# --- properties ---------------------------------------------------------------------------------


@given(parsed_chunks(), budgets, counters)
def test_a_text_over_its_budget_is_said_to_be_and_no_other_budget_gives_a_shorter_one(
    chunk: Chunk, budget: int, count: Count
):
    done = compress(chunk, budget, count)
    assert done.over_budget == (count(done.text) > budget)
    if done.over_budget:
        others = [compress(chunk, b, count) for b in (0, 5, 10, 20, 40, 80)]
        assert count(done.text) == min(count(o.text) for o in others)


@given(parsed_chunks(), budgets, counters)
def test_kept_and_dropped_are_all_edus_each_once(chunk: Chunk, budget: int, count: Count):
    done = compress(chunk, budget, count)
    assert sorted([*done.kept, *(d.edu for d in done.dropped)]) == list(range(len(tree_of(chunk).edus)))
    assert done.kept == tuple(sorted(done.kept))
    for d in done.dropped:
        assert (d.span, d.text) == (tree_of(chunk).edus[d.edu], chunk.slice(tree_of(chunk).edus[d.edu]))


@given(parsed_chunks(), budgets, budgets, counters)
def test_a_larger_budget_keeps_the_same_edus_or_more_and_no_fewer_tokens(chunk: Chunk, a: int, b: int, count: Count):
    small, large = compress(chunk, min(a, b), count), compress(chunk, max(a, b), count)
    assert set(small.kept) <= set(large.kept)
    assert count(small.text) <= count(large.text)


@given(parsed_chunks(), counters)
def test_a_budget_of_the_whole_text_keeps_the_whole_text(chunk: Chunk, count: Count):
    done = compress(chunk, count(chunk.text), count)
    assert (done.text, done.tree, done.dropped, done.over_budget) == (chunk.text.strip(), chunk.tree, (), False)


@given(parsed_chunks(), budgets, counters)
def test_a_protected_satellite_never_goes_without_its_nucleus(chunk: Chunk, budget: int, count: Count):
    kept = set(compress(chunk, budget, count).kept)
    for split in tree_of(chunk).splits:
        nucleus, satellite = kept_share(split, kept)
        if split.relation in PROTECTED and split.nuclearity is not NN and nucleus:
            assert satellite, split


@given(parsed_chunks(), budgets, counters)
def test_no_nucleus_goes_while_its_satellite_or_its_fellow_nucleus_stays(chunk: Chunk, budget: int, count: Count):
    kept = set(compress(chunk, budget, count).kept)
    assert tree_of(chunk).head(0, len(tree_of(chunk).edus)) in kept
    for split in tree_of(chunk).splits:
        nucleus, other = kept_share(split, kept)
        assert nucleus or not other, split
        if split.nuclearity is NN:
            assert bool(nucleus) == bool(other), split


@given(parsed_chunks(), budgets, counters)
def test_the_tree_is_over_the_kept_edus_with_their_spans_and_heads(chunk: Chunk, budget: int, count: Count):
    done, tree = compress(chunk, budget, count), tree_of(chunk)
    assert done.tree == RstTree.model_validate_json(done.tree.model_dump_json())
    assert done.tree.edus == tuple(tree.edus[i] for i in done.kept)
    assert done.kept[done.tree.head(0, len(done.kept))] == tree.head(0, len(tree.edus))
    for split in done.tree.splits:  # each is a split of the whole tree, between the same EDUs
        a, b, c, d = (done.kept[i] for i in (split.start, split.mid - 1, split.mid, split.end - 1))
        label = (split.relation, split.nuclearity)
        over = [s for s in tree.splits if s.start <= a <= b < s.mid <= c <= d < s.end]
        assert label in [(s.relation, s.nuclearity) for s in over], split


@given(parsed_chunks(), budgets, counters)
def test_the_text_is_the_kept_stretches_verbatim_with_a_mark_for_every_gap(chunk: Chunk, budget: int, count: Count):
    done, n = compress(chunk, budget, count), len(tree_of(chunk).edus)
    firsts = [i for i in done.kept if i - 1 not in done.kept]
    lasts = [i for i in done.kept if i + 1 not in done.kept]
    runs = [
        Span(start=tree_of(chunk).edus[a].start, end=tree_of(chunk).edus[b].end)
        for a, b in zip(firsts, lasts, strict=True)
    ]
    between = f" {GAP} ".join(chunk.slice(run) for run in runs)
    assert done.text == f"{GAP} " * (done.kept[0] > 0) + between + f" {GAP}" * (done.kept[-1] < n - 1)


@given(parsed_chunks(), budgets, counters)
def test_the_same_chunk_and_budget_give_the_same_result(chunk: Chunk, budget: int, count: Count):
    assert compress(chunk, budget, count) == compress(chunk.model_copy(deep=True), budget, count)


# --- examples -----------------------------------------------------------------------------------


def test_the_deepest_satellite_goes_first_and_of_two_alike_the_later():
    tides = parsed(
        "The sea rises.",
        "The moon pulls it.",
        "It is near.",
        "Ships wait.",
        links=(
            (0, 3, 4, Relation.ELABORATION, NS),
            (0, 1, 3, Relation.CAUSE, NS),
            (1, 2, 3, Relation.EVIDENCE, NS),
        ),
    )
    texts = [compress(tides, budget, words).text for budget in (12, 11, 9, 8, 7)]
    assert texts[0] == tides.text
    assert texts[1] == "The sea rises. The moon pulls it. [...] Ships wait."
    assert texts[2] == "The sea rises. The moon pulls it. [...]"
    assert texts[3] == texts[2]
    assert texts[4] == "The sea rises. [...]"


def test_what_is_dropped_names_its_place_and_the_relation_by_which_it_hung():
    bees = parsed(
        "Bees dance,",
        "as if on stage.",
        "Others learn.",
        links=((0, 1, 3, Relation.BACKGROUND, SN), (1, 2, 3, Relation.CAUSE, NS)),
    )
    done = shortest(bees)
    assert done.text == "[...] as if on stage. [...]"
    assert [(d.edu, d.text, d.relation) for d in done.dropped] == [
        (0, "Bees dance,", Relation.BACKGROUND),
        (2, "Others learn.", Relation.CAUSE),
    ]
    assert done.dropped[1].span == tree_of(bees).edus[2]


@pytest.mark.parametrize("relation", ["ATTRIBUTION", "CONDITION", "CONCESSION", "PURPOSE"])
@pytest.mark.parametrize("nuclearity", [NS, SN])
def test_what_changes_its_nucleus_stays_with_it_and_goes_with_it(relation: str, nuclearity: Nuclearity):
    pair = (1, 2, 3, Relation(relation), nuclearity)
    root = parsed("Sit down.", "one", "two", links=((0, 1, 3, Relation.CAUSE, SN), pair))
    assert shortest(root).text == "[...] one two"
    below = parsed("Sit down.", "one", "two", links=((0, 1, 3, Relation.CAUSE, NS), pair))
    assert shortest(below).text == "Sit down. [...]"
    assert compress(below, 3, words).text == "Sit down. [...]"


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
    assert shortest(guarded).text == guarded.text


def test_a_guarded_edu_inside_a_satellite_does_not_protect_the_satellite():
    doses = parsed(
        "It works.",
        "Doctors tried it.",
        "They did not hurry.",
        links=((0, 1, 3, Relation.EVIDENCE, NS), (1, 2, 3, Relation.ELABORATION, NS)),
    )
    assert compress(doses, 7, words).text == "It works. [...]"
    assert len(shortest(doses).dropped) == 2


def test_a_satellite_of_a_protected_satellite_may_go():
    rain = parsed(
        "Stay in",
        "if it rains,",
        "as in autumn.",
        links=((0, 1, 3, Relation.CONDITION, NS), (1, 2, 3, Relation.EXAMPLE, NS)),
    )
    assert shortest(rain).text == "Stay in if it rains, [...]"


def test_the_smallest_text_over_the_budget_is_returned_and_says_so():
    both = parsed("Bees dance.", "Bees sing.", links=((0, 1, 2, Relation.JOINT, NN),))
    done = compress(both, 3, words)
    assert (done.text, done.over_budget) == (both.text, True)


def test_a_satellite_shorter_than_its_gap_is_not_dropped_in_vain():
    done = compress(parsed("Bees dance.", "So.", links=((0, 1, 2, Relation.RESULT, NS),)), 0, len)
    assert (done.kept, done.over_budget) == ((0, 1), True)


def test_splits_with_one_side_left_vanish_from_the_tree():
    done = shortest(
        parsed(
            "a",
            "b",
            "c",
            "d",
            links=(
                (0, 2, 4, Relation.CONTRAST, NN),
                (0, 1, 2, Relation.CAUSE, NS),
                (2, 3, 4, Relation.EXAMPLE, SN),
            ),
        )
    )
    assert done.kept == (0, 3)
    assert done.tree.splits == (Split(start=0, mid=1, end=2, relation=Relation.CONTRAST, nuclearity=NN),)


def test_a_chunk_without_a_tree_is_refused_with_a_way_out():
    with pytest.raises(InvariantError, match="Chunk 3 of document d has no tree") as caught:
        compress(chunk_of("Bees dance.", None), 5, words)
    assert "Parse it" in caught.value.hint


def test_a_token_counter_counts_like_the_function_of_it():
    tokens = PackagedTokens()
    tides = parsed("Tides rise.", "The moon pulls.", "Ships wait here.", links=_chain(3))
    for budget in range(20):
        by_hand = compress(tides, budget, lambda text: tokens.counts([text])[0] - tokens.special_tokens)
        assert compress(tides, budget, tokens) == by_hand


def _chain(n: int) -> tuple[tuple[int, int, int, Relation, Nuclearity], ...]:
    return tuple((i, i + 1, n, Relation.ELABORATION, NS) for i in range(n - 1))


def test_a_chain_of_a_thousand_satellites_is_cut_from_its_end():
    long = parsed(*(f"w{i}" for i in range(1000)), links=_chain(1000))
    assert compress(long, 990, words).kept == tuple(range(989))


async def test_a_compressed_chunk_serves_the_engines_as_a_chunk_with_fewer_sentences(encoder: Encoder):
    text = "Bees dance. For example, they waggle. Therefore others find food. Flowers bloom in May."
    [whole] = (await inputs_from({"a": text}, "bees", encoder)).chunks
    kept = compress(whole, 12, encoder.tokens).kept
    smaller = compressed(whole, 12, encoder.tokens)
    assert [smaller.slice(s) for s in smaller.sentences] == [whole.slice(tree_of(whole).edus[i]) for i in kept]
    assert len(kept) < len(whole.sentences)
    assert smaller.text == whole.text
    shown = evidence_block(AnswerInputs(query="bees", chunks=(smaller,)))
    assert GAP in shown
    assert all(whole.slice(e) not in shown for i, e in enumerate(tree_of(whole).edus) if i not in kept)


async def test_a_chunk_without_a_tree_stays_whole_and_a_large_budget_keeps_all(encoder: Encoder):
    [whole] = (await inputs_from({"a": "Bees dance. They waggle."}, "bees", encoder)).chunks
    bare = whole.model_copy(update={"tree": None})
    assert compressed(bare, 1, encoder.tokens) == bare
    assert compressed(whole, 1000, encoder.tokens) == whole


@pytest.mark.parametrize("switches", [{"use_tree": False}, {"preset": "paper"}])
def test_compression_needs_our_trees(switches: dict[str, Any]):
    with pytest.raises(ValidationError, match="compress_to"):
        AnswerContext(compress_to=50, **switches)
