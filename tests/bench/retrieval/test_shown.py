"""A row is measured by the text that a reader gets, not by the text below a summary."""

import asyncio

from bench.retrieval.shown import Shown
from discorag.rst.rules import RuleParser
from discorag.trees.builders.clusters import ClusterBuilder, ClusterSizes
from discorag.trees.forest import Forest
from discorag.trees.summarise import ExtractiveSummariser
from discorag.types.document import Document
from discorag.types.retrieval_tree import RetrievalTree
from tests.trees.builders.checks import source_of
from tests.trees.hashing import HashingEncoder

TEXT = "Iron rusts in wet air. Gold does not.\n\nRings of gold last for ever. Rings of iron do not last at all."


def shown() -> tuple[Shown, Forest]:
    encoder = HashingEncoder()
    sizes = ClusterSizes(chunk_tokens=10, summary_words=6)
    builder = ClusterBuilder(encoder, ExtractiveSummariser(RuleParser()), encoder.tokens, sizes)
    forest = Forest({"d": asyncio.run(builder.build(source_of(TEXT))).tree})
    return Shown(forest, {"d": Document(uri="d", title="", text=TEXT)}), forest


def test_a_summary_counts_as_the_sentences_that_it_has_and_a_leaf_as_itself() -> None:
    given, forest = shown()
    root = forest.tree.roots[0]
    assert forest.tree.nodes[root].text == "Iron rusts in wet air."
    assert [place.span.of(TEXT) for place in given.places([root])] == ["Iron rusts in wet air."]
    assert [place.span for place in given.places([1])] == list(forest.tree.nodes[1].spans)


def test_what_no_sentence_of_the_document_says_has_no_place() -> None:
    _, forest = shown()
    *leaves, root = forest.tree.nodes
    said = root.model_copy(update={"text": "Metals differ."})
    tree = RetrievalTree(builder="by a model", nodes=(*leaves, said))
    assert Shown(Forest({"d": tree}), {"d": Document(uri="d", title="", text=TEXT)}).places([len(leaves)]) == []
