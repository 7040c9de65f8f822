"""Every builder on documents of impossible shapes, and beside a model that fails: a tree all the same."""

from __future__ import annotations

import sys

import pytest

from discorag.retrieval.builders.base import Source
from discorag.schema.document import Kind
from discorag.schema.errors import EmptyDocumentError
from discorag.schema.retrieval_tree import RetrievalTree
from tests.retrieval.builders.checks import source_of
from tests.retrieval.builders.every import ONE_ROOT, every_builder

NAMES = sorted(every_builder())

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


async def built(name: str, text: str, *, window: int = 256) -> RetrievalTree:
    return (await every_builder(window=window)[name].build(source_of(text))).tree


def words_of(tree: RetrievalTree) -> list[str]:
    return " ".join(leaf.text for leaf in tree.nodes[: tree.leaves]).split()


@pytest.mark.parametrize("name", NAMES)
async def test_one_sentence_is_a_tree_and_a_blank_document_is_refused(name: str) -> None:
    tree = await built(name, "Alone.")
    assert [n.text for n in tree.nodes[: tree.leaves]] == ["Alone."]
    assert len(tree.nodes) == 1 + (name in {"headings", "sections"})
    with pytest.raises(EmptyDocumentError, match=r"d\.md holds no (sentence|paragraph)"):
        await built(name, " \n")


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
    tree = await built(name, " ".join(["The same again."] * count), window=4)
    assert words_of(tree) == ["The", "same", "again."] * count


def sentences_of(count: int) -> str:
    return " ".join(f"Sentence {i} is here." for i in range(count))


def lines_of(count: int) -> str:
    return "\n\n".join(f"Line {i} is here." for i in range(count))


DEEP_FOR_PYTHON = sys.getrecursionlimit() + 500


@pytest.fixture(scope="module", params=[sentences_of, lines_of])
def long(request: pytest.FixtureRequest) -> Source:
    return source_of(request.param(DEEP_FOR_PYTHON))


@pytest.mark.parametrize("name", NAMES)
async def test_long_documents_need_no_recursion(name: str, long: Source) -> None:
    assert words_of((await every_builder()[name].build(long)).tree) == long.document.text.split()
