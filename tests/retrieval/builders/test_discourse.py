"""The discourse tree: paragraphs' trees under the document's, texts by the tau rule, parses used again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

import prompts
from discorag.discourse.parse.rules import RuleParser
from discorag.discourse.parse.trained.parser import TrainedParser
from discorag.discourse.parse.units import Unit
from discorag.retrieval.builder import Source, Summary
from discorag.retrieval.builders.discourse import DiscourseBuilder
from discorag.retrieval.builders.node_text import Concat, Tau
from discorag.retrieval.summarise import ExtractiveSummariser, LlmSummariser
from discorag.schema.rst_relations import Relation
from discorag.schema.rst_tree import RstTree
from tests.models.helpers import gateway
from tests.retrieval.builders.checks import RightBranchingUnits, below, checked, source_of, sources
from tests.servers.scripted import Body, Scripted, ScriptedServer

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


async def test_tau_zero_summarises_every_inner_node_bottom_up():
    tree = (
        await DiscourseBuilder(RightBranchingUnits(), Tau(_Initials(), tau=0)).build(
            source_of("Ann ate. Bob bit. Cid cut.")
        )
    ).tree
    assert [node.text for node in tree.nodes[3:]] == ["B+C", "A+B"]


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


async def test_another_parser_does_not_get_the_cached_trees():
    cache: dict[str, RstTree] = {}
    await DiscourseBuilder(RuleParser(), Concat(), cache=cache).build(_THREE)
    assert (await DiscourseBuilder(RightBranchingUnits(), Concat(), cache=cache).build(_THREE)).reused == 0


async def test_the_trained_parser_reads_english_and_the_rules_the_rest():
    parser = TrainedParser()
    english = source_of("Iron rusts because it is wet. However, gold does not. It is noble.\n\nRings are of gold.")
    tree = checked(english, (await DiscourseBuilder(parser, Concat()).build(english)).tree)
    assert tree.nodes[-1].relation
    for text in ("铁会生锈。金不会。因此戒指是金的。\n\n戒指是金的。", "Iron rusts. 铁会生锈。\n\n\u200b\n\n\u200b"):
        source = source_of(text)
        checked(source, (await DiscourseBuilder(parser, Concat()).build(source)).tree)


async def test_one_sentence_is_one_leaf_and_takes_no_parse():
    built = await DiscourseBuilder(RuleParser(), Concat()).build(source_of("Alone."))
    assert (len(built.tree.nodes), built.parsed) == (1, 0)


async def test_a_paragraph_of_two_thousand_sentences_is_built():
    source = source_of(" ".join(f"Sentence {i} is here." for i in range(2000)))
    tree = (await DiscourseBuilder(RuleParser(), Concat()).build(source)).tree
    assert (tree.leaves, len(tree.nodes), tree.nodes[-1].layer) == (2000, 3999, 1999)


async def test_two_thousand_paragraphs_of_one_line_are_built():
    source = source_of("\n\n".join(f"Line {i} is here." for i in range(2000)))
    built = await DiscourseBuilder(RuleParser(), Concat()).build(source)
    assert (built.tree.leaves, len(built.tree.nodes), built.parsed) == (2000, 3999, 1)


async def test_where_the_model_fails_on_a_node_its_text_is_extractive_and_the_failure_is_told():
    def model(body: Body) -> Scripted | str:
        return Scripted(status=400, text="no") if "Eva ebbed." in body["messages"][-1]["content"] else "Summed up."

    with ScriptedServer(model) as server:
        summariser = LlmSummariser(gateway(server), prompts.load("summary"), ExtractiveSummariser())
        built = await DiscourseBuilder(RightBranchingUnits(), Tau(summariser, tau=0, words=2)).build(_THREE)
    texts = {built.tree.leaves_of[i]: n.text for i, n in enumerate(built.tree.nodes)}
    assert (texts[0, 1, 2], texts[4, 5]) == ("Summed up.", "Eva ebbed.")
    assert texts[0, 1, 2, 3, 4, 5] == "Summed up."
    assert len(built.failures) == 2  # of this node, and of the one above, whose text has it again
    assert all(failure.startswith("ModelRejectedError") for failure in built.failures)
    assert built.usage.calls >= 3


@pytest.mark.parametrize(
    ("kind", "between", "relation"), [("paragraph", "\n\n", Relation.JOINT), ("sentence", " ", Relation.ELABORATION)]
)
def test_the_rules_know_paragraphs_from_sentences(kind: Unit, between: str, relation: Relation):
    texts = ["Iron rusts.", "Gold shines."]
    tree = RuleParser().parse_units(texts, kind)
    assert [edu.of(between.join(texts)) for edu in tree.edus] == texts
    assert tree.splits[0].relation is relation
