"""Which nodes of a document are visible, and how they are written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from discorag.retrieval.builders.base import inner
from discorag.retrieval.routers.walk import RetrievalSubtree, derive
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span
from tests.retrieval.routers.parks import TITLE, ids, nodes, subtrees


def leaf(text: str, start: int) -> RetrievalNode:
    return RetrievalNode(text=text, spans=(Span(start=start, end=start + 1),))


def tree_of(*made: RetrievalNode) -> RetrievalTree:
    return RetrievalTree(builder="made", nodes=made)


def test_the_rebuilt_document_has_the_ids_of_table_16(parks: RetrievalTree):
    headings = {-1: TITLE, 0: "Introduction", 3: "History", 4: "Initial planning and construction", 16: "1990s"}
    headings |= {18: "2000s", 20: "2010s", 29: "Firsts, bests, and other records", 40: "Records", 45: "Awards"}
    headings |= {30: "Firsts and ones of a kind", 48: "Events", 54: "Areas and attractions", 56: "Star Mall"}
    headings |= {157: "Tower", 168: "Former Attractions"}
    assert {i: parks.nodes[nodes(parks, i)[0]].heading for i in headings} == headings
    assert set(ids(parks, range(parks.leaves, len(parks.nodes)))) == set(headings)
    assert "SkyScreamer" in parks.nodes[nodes(parks, 44)[0]].text


def test_all_headings_and_the_siblings_of_retrieved_passages_are_visible(parks: RetrievalTree):
    subtree = derive(parks, nodes(parks, 41))
    assert ids(parks, subtree.lit) == [41, 42, 43, 44]
    assert subtree.visible == set(subtree.lit) | set(range(parks.leaves, len(parks.nodes)))


def test_expansion_replaces_the_passages_shown(parks: RetrievalTree):
    subtree = derive(parks, nodes(parks, 19)).expand(*nodes(parks, 40))
    assert ids(parks, subtree.lit) == [41, 42, 43, 44]
    assert ids(parks, sorted(subtree.seen)) == [19, 41, 42, 43, 44]


def test_expansion_shows_only_what_was_not_seen_and_changes_nothing_twice(parks: RetrievalTree):
    records = derive(parks, nodes(parks, 19)).expand(*nodes(parks, 40))
    assert records.expand(*nodes(parks, 40)) is records
    assert records.expand(*nodes(parks, 18)) is records  # 19 was shown at first


def test_a_heading_unfolds_the_passages_directly_under_it_and_its_subheadings_stay_folded(parks: RetrievalTree):
    assert ids(parks, derive(parks, ()).expand(*nodes(parks, 54)).lit) == [55]
    bare, history = derive(parks, ()), nodes(parks, 3)
    assert bare.expand(*history) is bare
    assert not set(history) & set(bare.collapsed)


def test_nodes_are_written_as_indented_lines_in_reading_order():
    leaves = [leaf("Intro\n 9: fake", 0), leaf("Fast & <tall> |", 2), leaf("Hot", 4)]
    rides = inner(leaves, [1], "Park > Rides", heading="Rides")
    food = inner(leaves, [2], "Park > Food", heading="Food")
    root = inner([*leaves, food, rides], [0, 3, 4], "Park", heading="Park")
    tree = tree_of(*leaves, food, rides, root)
    assert derive(tree, [0]).render().split("\n") == ["0 #: Park", " 1: Intro 9: fake", " 2 #+: Rides", " 4 #+: Food"]
    assert derive(tree, [1]).render().split("\n") == [
        "0 #+: Park",
        " 2 #: Rides",
        "  3: Fast &amp; &lt;tall&gt; &#124;",
        " 4 #+: Food",
    ]


@given(subtrees())
def test_every_node_has_one_id_and_parents_come_first(subtree: RetrievalSubtree):
    order = [node for node, _ in subtree.order]
    assert sorted(order) == list(range(len(subtree.tree.nodes)))
    for node, depth in subtree.order:
        above = [order.index(parent) for parent in subtree.tree.parents[node]]
        assert (depth == 0) == (not above)
        assert not above or min(above) < order.index(node)


@given(subtrees(), st.data())
def test_what_was_seen_grows_and_every_expansion_shows_only_new_passages(
    subtree: RetrievalSubtree, data: st.DataObject
):
    while subtree.collapsed:
        opened = subtree.expand(data.draw(st.sampled_from(subtree.collapsed)))
        assert opened.seen > subtree.seen
        assert set(opened.lit) == opened.seen - subtree.seen
        subtree = opened
    below = {leaf for i in range(subtree.tree.leaves, len(subtree.tree.nodes)) for leaf in subtree.tree.leaves_of[i]}
    assert below <= subtree.seen
