"""What holds for the tree of every builder, also on documents of impossible shapes."""

import sys
from itertools import pairwise

import pytest
from hypothesis import given

from discorag.retrieval.builders.base import Source
from discorag.schema.document import Kind, UnitKind
from discorag.schema.errors import InputError
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.values import Span
from tests.retrieval.builders.checks import source_of, sources
from tests.retrieval.builders.every import GAPPED, ONE_ROOT, OVERLAPPING, every_builder
from tests.retrieval.strategies import leaves_of

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
    bodies = [n.span for _, n in sentences if name != "headings" or n.unit is not UnitKind.HEADING]
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
            leaves = leaves_of(tree)[i]
            assert list(leaves) == list(range(leaves[0], leaves[-1] + 1))


@pytest.mark.parametrize("name", sorted(set(NAMES) - OVERLAPPING))
@given(source=sources)
async def test_every_node_has_one_parent_or_is_a_root(name: str, source: Source) -> None:
    tree = await built(name, source)
    assert max(map(len, tree.parents)) <= 1
    held = [leaf for root in tree.roots for leaf in leaves_of(tree)[root]]
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


OUTLINES = {
    "none": "One. Two.\n\nThree. Four.",
    "six deep": "\n\n".join(f"{'#' * level} Level {level}\n\nText {level} stands here." for level in range(1, 7)),
    "skipping levels": "# A\n\n#### B\n\nOne.\n\n## C\n\nTwo.\n\n###### D\n\nThree.",
    "lower first": "### A\n\nOne.\n\n# B\n\nTwo.",
    "alone": "# A\n\n## B\n\n## C\n\n### D",
    "one alone": "# A",
    "empty": "#\n\n##\n\nOne.\n\n#",
    "without text between": "# A\n\n# B\n\n# C\n\nOne.",
    "text before": "One.\n\n# A\n\nTwo.",
    "under a lone one": "# A\n\n## B\n\n### C\n\nOne.",
}


async def tree_over(name: str, text: str, *, window: int = 256) -> RetrievalTree:
    return (await every_builder(window=window)[name].build(source_of(text))).tree


def words_of(tree: RetrievalTree) -> list[str]:
    return " ".join(leaf.text for leaf in tree.nodes[: tree.leaves]).split()


@pytest.mark.parametrize("name", NAMES)
async def test_one_sentence_is_a_tree_and_a_blank_document_is_refused(name: str) -> None:
    tree = await tree_over(name, "Alone.")
    assert [n.text for n in tree.nodes[: tree.leaves]] == ["Alone."]
    assert len(tree.nodes) == 1 + (name in {"headings", "sections"})
    with pytest.raises(InputError, match=r"d\.md holds no (sentence|paragraph)"):
        await tree_over(name, " \n")


@pytest.mark.parametrize("outline", OUTLINES)
@pytest.mark.parametrize("name", NAMES)
async def test_headings_of_any_shape_make_a_tree_that_holds_the_text(name: str, outline: str) -> None:
    source = source_of(OUTLINES[outline])
    tree = (await every_builder()[name].build(source)).tree
    assert name not in ONE_ROOT or len(tree.roots) == 1
    bodies = [n.span.of(source.document.text) for _, n in source.hierarchy.of_kind(Kind.PARAGRAPH)]
    kept = [word for body in bodies for word in body.split() if name != "headings" or not body.startswith("#")]
    assert [word for word in words_of(tree) if name != "headings" or word in kept] == kept


@pytest.mark.parametrize("count", [2, 12, 13, 16, 60])
@pytest.mark.parametrize("name", NAMES)
async def test_sentences_all_alike_are_built_however_many(name: str, count: int) -> None:
    """Also fewer chunks than UMAP has neighbours or dimensions, and more than it can tell apart."""
    tree = await tree_over(name, " ".join(["The same again."] * count), window=4)
    assert words_of(tree) == ["The", "same", "again."] * count


def sentences_of(count: int) -> str:
    return " ".join(f"Sentence {i} is here." for i in range(count))


def lines_of(count: int) -> str:
    return "\n\n".join(f"Line {i} is here." for i in range(count))


DEEP_FOR_PYTHON = sys.getrecursionlimit() + 500


@pytest.fixture(scope="module", params=[sentences_of, lines_of])
def long(request: pytest.FixtureRequest) -> Source:
    return source_of(request.param(DEEP_FOR_PYTHON))


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"clusters"}))  # whose layers are few
async def test_long_documents_need_no_recursion(name: str, long: Source) -> None:
    assert words_of((await every_builder()[name].build(long)).tree) == long.document.text.split()
