"""What holds for the tree of every builder: leaves in order, nothing lost, spans that nest, one parent."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from discorag.ingest.segment.headings import is_heading
from discorag.retrieval.builders.base import Source
from discorag.schema.document import Kind
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Span
from tests.retrieval.builders.checks import sources
from tests.retrieval.builders.every import GAPPED, ONE_ROOT, OVERLAPPING, every_builder

NAMES = sorted(every_builder())


async def built(name: str, source: Source) -> RetrievalTree:
    """Chunks of eight tokens, so that few sentences are many texts to cluster."""
    return (await every_builder(window=8)[name].build(source)).tree


def visible(text: str, spans: list[Span]) -> set[int]:
    return {at for span in spans for at in range(span.start, span.end) if not text[at].isspace()}


def inside(span: Span, spans: tuple[Span, ...]) -> bool:
    return any(around.contains(span) for around in spans)


@pytest.mark.parametrize("name", NAMES)
@given(source=sources)
async def test_leaves_are_the_documents_own_text_in_order_and_leave_out_headings_at_most(
    name: str, source: Source
) -> None:
    tree, text = await built(name, source), source.document.text
    leaves = tree.nodes[: tree.leaves]
    assert tree.builder == name
    assert all(leaf.text == leaf.spans[0].of(text) for leaf in leaves)
    assert all(a.spans[0].end <= b.spans[0].start for a, b in pairwise(leaves))
    sentences = source.hierarchy.of_kind(Kind.SENTENCE)
    bodies = [n.span for i, n in sentences if name != "headings" or not is_heading(source.hierarchy, i)]
    assert visible(text, bodies) <= visible(text, [leaf.spans[0] for leaf in leaves])


@pytest.mark.parametrize("name", NAMES)
@given(source=sources)
async def test_a_nodes_spans_hold_its_childrens_and_begin_and_end_with_them(name: str, source: Source) -> None:
    tree = await built(name, source)
    for i, node in enumerate(tree.nodes[tree.leaves :], start=tree.leaves):
        below = [span for child in node.children for span in tree.nodes[child].spans]
        assert all(inside(span, node.spans) for span in below)
        assert {s.start for s in node.spans} <= {s.start for s in below}
        assert {s.end for s in node.spans} <= {s.end for s in below}
        assert all(a.end < b.start for a, b in pairwise(node.spans))
        if name not in GAPPED:
            leaves = tree.leaves_of[i]
            assert list(leaves) == list(range(leaves[0], leaves[-1] + 1))


@pytest.mark.parametrize("name", sorted(set(NAMES) - OVERLAPPING))
@given(source=sources)
async def test_every_node_has_one_parent_or_is_a_root(name: str, source: Source) -> None:
    tree = await built(name, source)
    assert max(map(len, tree.parents)) <= 1
    held = [leaf for root in tree.roots for leaf in tree.leaves_of[root]]
    assert sorted(held) == list(range(tree.leaves))
    assert name not in ONE_ROOT or len(tree.roots) == 1


@pytest.mark.parametrize("name", sorted(OVERLAPPING))
@given(source=sources)
async def test_no_two_nodes_above_each_other_or_side_by_side_hold_the_same_children(name: str, source: Source) -> None:
    tree = await built(name, source)
    groups = [node.children for node in tree.nodes[tree.leaves :]]
    assert all(len(group) > 1 for group in groups)
    assert len(set(groups)) == len(groups)


@pytest.mark.parametrize("name", NAMES)
@given(source=sources)
async def test_the_same_document_has_the_same_tree(name: str, source: Source) -> None:
    assert await built(name, source) == await built(name, source)
