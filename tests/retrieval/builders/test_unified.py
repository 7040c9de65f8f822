"""One tree of headings, paragraphs and sentences; and vectors of nodes."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from discorag.discourse.parse.rules import RuleParser
from discorag.models.protocol import Encoder
from discorag.retrieval.builder import Source, inner
from discorag.retrieval.builders.bisection import BisectionBuilder
from discorag.retrieval.builders.flat import FlatSentenceBuilder
from discorag.retrieval.builders.node_text import Concat, Tau
from discorag.retrieval.builders.unified import UnifiedBuilder
from discorag.retrieval.summarise import ExtractiveSummariser
from discorag.retrieval.vectors import node_vectors
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.rst_tree import RstTree
from tests.retrieval.builders.checks import RightBranchingUnits, below, checked, source_of, sources

_TEXT = "Opening line.\n\n# Metals\n\nIron rusts. It is wet.\n\nGold shines.\n\n## Rings\n\nRings last.\n\n# End"


@given(sources)
async def test_it_is_one_tree_over_all_sentences(source: Source):
    for text in (Concat(), Tau(ExtractiveSummariser(), tau=4, words=4)):
        checked(source, (await UnifiedBuilder(RuleParser(), text).build(source)).tree)


async def test_sections_stand_over_their_heading_paragraphs_and_subsections():
    source = source_of(_TEXT)
    tree = checked(source, (await UnifiedBuilder(RightBranchingUnits(), Concat()).build(source)).tree)
    assert below(tree) == {(2, 3), (5, 6), (1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4, 5, 6, 7)}
    headings = {tree.leaves_of[i]: n.heading for i, n in enumerate(tree.nodes) if n.heading}
    assert headings == {(1, 2, 3, 4, 5, 6): "Metals", (5, 6): "Rings"}


async def test_paragraphs_have_relations_and_sections_none():
    tree = (await UnifiedBuilder(RuleParser(), Concat()).build(source_of(_TEXT))).tree
    assert {tree.leaves_of[i] for i, n in enumerate(tree.nodes) if n.relation} == {(2, 3)}


async def test_a_summary_of_a_section_stands_under_its_heading():
    source = source_of("# Metals\n\nIron rusts. It is wet.\n\nGold shines.")
    tree = (await UnifiedBuilder(RuleParser(), Tau(ExtractiveSummariser(), tau=0, words=4)).build(source)).tree
    assert tree.nodes[-1].text.startswith("Metals\n")


async def test_with_a_cache_only_a_changed_paragraph_is_parsed():
    cache: dict[str, RstTree] = {}
    text = "# A\n\nBob bit. Cid cut.\n\nDan dug. Eva ebbed."
    await UnifiedBuilder(RuleParser(), Concat(), cache=cache).build(source_of(text))
    built = await UnifiedBuilder(RuleParser(), Concat(), cache=cache).build(
        source_of(text.replace("Eva ebbed.", "Flo fed."))
    )
    assert (built.parsed, built.reused) == (1, 1)


async def test_two_thousand_paragraphs_of_one_line_hang_on_the_document():
    source = source_of("\n\n".join(f"Line {i} is here." for i in range(2000)))
    tree = (await UnifiedBuilder(RuleParser(), Concat()).build(source)).tree
    assert (len(tree.nodes), len(tree.nodes[-1].children)) == (2001, 2000)


async def test_vectors_of_texts_are_the_encoders(encoder: Encoder):
    tree = (await BisectionBuilder(Concat()).build(source_of("Iron rusts. Gold shines. Rings last."))).tree
    vectors = await node_vectors(tree, encoder, "text")
    assert vectors.shape == (5, encoder.dimension)
    np.testing.assert_allclose(vectors, await encoder.encode_documents([n.text for n in tree.nodes]), atol=1e-5)


async def test_a_mean_vector_points_where_its_leaves_do_and_has_length_one(encoder: Encoder):
    tree = (await BisectionBuilder(Concat()).build(source_of("Iron rusts. Gold shines. Rings last."))).tree
    vectors = await node_vectors(tree, encoder, "mean")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for i, leaves in enumerate(tree.leaves_of):
        mean = vectors[list(leaves)].mean(axis=0)
        np.testing.assert_allclose(vectors[i], mean / np.linalg.norm(mean), atol=1e-5)


async def test_a_leaf_under_two_parents_counts_once_in_their_common_mean(encoder: Encoder):
    nodes = list((await FlatSentenceBuilder().build(source_of("Iron rusts. Gold shines. Rings last."))).tree.nodes)
    nodes.append(inner(nodes, [0, 1], "a"))
    nodes.append(inner(nodes, [1, 2], "b"))
    nodes.append(inner(nodes, [3, 4], "c"))
    vectors = await node_vectors(RetrievalTree(builder="c", nodes=tuple(nodes)), encoder, "mean")
    mean = vectors[:3].mean(axis=0)
    np.testing.assert_allclose(vectors[5], mean / np.linalg.norm(mean), atol=1e-5)
