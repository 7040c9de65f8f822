"""Discourse trees: paragraphs' trees below the document's or the author's, the tau rule, parses used again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from discorag.discourse.parse.parser import Unit
from discorag.discourse.parse.rules import RuleParser
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.models.protocol import Encoder
from discorag.retrieval.builders.base import Source
from discorag.retrieval.builders.baselines import BisectionBuilder
from discorag.retrieval.builders.discourse import DiscourseBuilder, UnifiedBuilder
from discorag.retrieval.builders.node_text import Concat, Tau
from discorag.retrieval.builders.summaries import ExtractiveSummariser, Summary
from discorag.retrieval.forest import node_vectors
from discorag.schema.discourse import Relation, RstTree
from tests.retrieval.builders.checks import RightBranchingUnits, below, checked, source_of, sources

_THREE = source_of("Ann ate. Bob bit. Cid cut.\n\nDan dug.\n\nEva ebbed. Flo fed.")


class _Initials:
    """A summariser whose text says what it was given."""

    version = "initials"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        return Summary("+".join(text[0] for text in texts))


class _Noted:
    """The rules, keeping what they are asked."""

    version = "noted"

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], Unit]] = []

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        self.asked.append((tuple(texts), kind))
        return RuleParser().parse_units(texts, kind)


@given(sources)
async def test_it_is_one_binary_tree_over_all_sentences(source: Source):
    for text in (Concat(), Tau(ExtractiveSummariser(), tau=4, words=4)):
        tree = checked(source, (await DiscourseBuilder(RuleParser(), text).build(source)).tree)
        assert len(tree.nodes) == 2 * tree.leaves - 1


async def test_each_paragraphs_tree_stands_where_the_documents_tree_had_a_leaf():
    tree = checked(_THREE, (await DiscourseBuilder(RightBranchingUnits(), Concat()).build(_THREE)).tree)
    assert below(tree) == {(1, 2), (0, 1, 2), (4, 5), (3, 4, 5), (0, 1, 2, 3, 4, 5)}


async def test_the_second_parse_is_over_the_texts_of_the_paragraphs_roots():
    parser = _Noted()
    await DiscourseBuilder(parser, Tau(_Initials(), tau=5)).build(_THREE)
    assert parser.asked == [
        (("Ann ate.", "Bob bit.", "Cid cut."), "sentence"),
        (("Eva ebbed.", "Flo fed."), "sentence"),
        (("A+B", "Dan dug.", "Eva ebbed. Flo fed."), "paragraph"),
    ]


@pytest.mark.parametrize(("tau", "text"), [(4, "A+B"), (5, "Ann ate. Bob bit.")])
async def test_texts_of_exactly_tau_words_are_summarised_and_of_one_less_put_together(tau: int, text: str):
    source = source_of("Ann ate. Bob bit.")
    tree = (await DiscourseBuilder(RuleParser(), Tau(_Initials(), tau=tau)).build(source)).tree
    assert tree.nodes[-1].text == text


async def test_nodes_carry_the_parsers_relation():
    tree = (await DiscourseBuilder(RuleParser(), Concat()).build(source_of("Iron rusts. For example, nails do."))).tree
    assert tree.nodes[-1].relation == Relation.EXAMPLE


async def test_with_a_cache_only_a_changed_paragraph_and_what_is_above_are_parsed():
    cache: dict[str, RstTree] = {}
    builder = DiscourseBuilder(RuleParser(), Concat(), cache=cache)
    first = await builder.build(_THREE)
    assert (first.parsed, first.reused) == (3, 0)
    again = await builder.build(_THREE)
    assert (again.parsed, again.reused) == (0, 3)
    assert again.tree == first.tree
    changed = source_of(_THREE.document.text.replace("Flo fed.", "Gus got."))
    built = await builder.build(changed)
    assert (built.parsed, built.reused) == (2, 1)
    assert built.tree == (await DiscourseBuilder(RuleParser(), Concat()).build(changed)).tree


async def test_the_trained_parser_reads_english_and_the_rules_the_rest():
    parser = TrainedParser()
    english = source_of("Iron rusts because it is wet. However, gold does not. It is noble.\n\nRings are of gold.")
    tree = checked(english, (await DiscourseBuilder(parser, Concat()).build(english)).tree)
    assert tree.nodes[-1].relation
    for text in ("铁会生锈。金不会。因此戒指是金的。\n\n戒指是金的。", "Iron rusts. 铁会生锈。\n\n\u200b\n\n\u200b"):
        source = source_of(text)
        checked(source, (await DiscourseBuilder(parser, Concat()).build(source)).tree)


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


async def test_a_summary_of_a_section_stands_under_its_heading():
    source = source_of("# Metals\n\nIron rusts. It is wet.\n\nGold shines.")
    tree = (await UnifiedBuilder(RuleParser(), Tau(ExtractiveSummariser(), tau=0, words=4)).build(source)).tree
    assert tree.nodes[-1].text.startswith("Metals\n")


async def test_vectors_of_texts_are_the_encoders(encoder: Encoder):
    tree = (await BisectionBuilder(Concat()).build(source_of("Iron rusts. Gold shines. Rings last."))).tree
    vectors = await node_vectors(tree, encoder, "text")
    assert vectors.shape == (5, encoder.dimension)
    np.testing.assert_allclose(vectors, await encoder.encode_documents([n.text for n in tree.nodes]), atol=1e-5)
