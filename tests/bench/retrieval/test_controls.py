"""Control trees: any shape but the text's, and the same one for the same content."""

from hypothesis import given

from bench.retrieval.controls import RandomBranchingBuilder, RandomUnits, RightBranchingBuilder, RightBranchingUnits
from bench.retrieval.nuclear import Nuclear
from discorag.rst.rules import RuleParser
from discorag.trees.builder import Builder, Source
from discorag.trees.builders.bisection import BisectionBuilder
from discorag.trees.builders.discourse import DiscourseBuilder
from discorag.trees.builders.flat import FlatChunkBuilder, FlatSentenceBuilder
from discorag.trees.builders.node_text import Concat, Tau
from discorag.trees.builders.unified import UnifiedBuilder
from discorag.trees.builders.windows import WindowBuilder
from discorag.trees.summarise import ExtractiveSummariser
from tests.trees.builders.checks import LastNuclear, below, checked, source_of, sources

_TEN = " ".join(f"Sentence number {i}." for i in range(10))


@given(sources)
async def test_both_are_binary_trees_over_all_sentences(source: Source):
    for builder in (RandomBranchingBuilder(Concat()), RightBranchingBuilder(Nuclear())):
        tree = checked(source, (await builder.build(source)).tree)
        assert len(tree.nodes) == 2 * tree.leaves - 1
        assert not any(node.relation for node in tree.nodes)


async def test_right_branching_joins_each_sentence_to_all_that_follow():
    tree = (await RightBranchingBuilder(Concat()).build(source_of("Ann ate. Bob bit. Cid cut. Dan dug."))).tree
    assert below(tree) == {(2, 3), (1, 2, 3), (0, 1, 2, 3)}


async def test_a_random_tree_follows_from_the_content_alone():
    built = [
        (await RandomBranchingBuilder(Concat()).build(source_of(text))).tree for text in (_TEN, _TEN, _TEN + " End.")
    ]
    assert built[0] == built[1]
    shapes = {
        frozenset(below((await RandomBranchingBuilder(Concat()).build(source_of(f"{_TEN} E{i}."))).tree))
        for i in range(5)
    }
    assert len(shapes) == 5


def test_whatever_shapes_nodes_changes_the_version():
    extractive = ExtractiveSummariser()
    builders: list[Builder] = [
        FlatSentenceBuilder(),
        FlatChunkBuilder(),
        FlatChunkBuilder(50),
        RandomBranchingBuilder(Concat()),
    ]
    builders += [
        BisectionBuilder(Concat()),
        BisectionBuilder(Concat(9)),
        BisectionBuilder(Nuclear()),
        BisectionBuilder(Nuclear(9)),
    ]
    builders += [WindowBuilder(Concat()), WindowBuilder(Concat(), size=3), WindowBuilder(Concat(), chunk_words=1)]
    builders += [RightBranchingBuilder(Tau(extractive)), RightBranchingBuilder(Tau(extractive, tau=0))]
    builders += [
        RightBranchingBuilder(Tau(extractive, words=9)),
        RightBranchingBuilder(Tau(ExtractiveSummariser(LastNuclear()))),
    ]
    for parser in (
        RuleParser(),
        RandomUnits(),
        RightBranchingUnits(),
        LastNuclear(),
    ):
        builders += [DiscourseBuilder(parser, Concat()), UnifiedBuilder(parser, Concat())]
    assert len({builder.version for builder in builders}) == len(builders)


def test_random_trees_over_units_differ_by_text_and_are_the_same_for_the_same_text() -> None:
    texts = [f"Sentence number {i}." for i in range(10)]
    splits = RandomUnits().parse_units(texts, "sentence").splits
    assert splits == RandomUnits().parse_units(texts, "sentence").splits
    assert len(splits) == 9
    others = {RandomUnits().parse_units([f"{x} {t}" for t in texts], "sentence").splits for x in range(5)}
    assert len(others) == 5


async def test_two_thousand_sentences_on_one_branch_need_no_recursion_and_little_text():
    source = source_of(" ".join(f"Sentence {i} is here." for i in range(2000)))
    tree = (await RightBranchingBuilder(Concat()).build(source)).tree
    assert tree.nodes[-1].layer == 1999
    assert sum(len(node.text) for node in tree.nodes) < 2000 * 2200
    assert tree.nodes[-1].text.startswith("Sentence 0 is here. Sentence 1")
