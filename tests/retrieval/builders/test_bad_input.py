"""Every builder on documents of impossible shapes, and beside a model that fails: a tree all the same."""

from __future__ import annotations

import sys

import pytest

from discorag.retrieval.builders.base import Built, Source
from discorag.schema.document import Kind
from discorag.schema.errors import EmptyDocumentError
from discorag.schema.retrieval_tree import RetrievalTree
from tests.models.helpers import gateway
from tests.retrieval.builders.checks import source_of
from tests.retrieval.builders.every import ONE_ROOT, SUMMARISING, every_builder
from tests.servers.scripted import Body, Scripted, ScriptedServer

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


PARTS = "\n\n".join(f"# Part {p}\n\n" + " ".join(f"Fact {i} of {p} holds." for i in range(40)) for p in range(6))


async def with_failing_model(name: str) -> Built:
    """A language model that answers all but the texts that hold one sentence."""

    def model(body: Body) -> Scripted | str:
        return Scripted(status=400, text="no") if "Fact 7 of 3" in body["messages"][-1]["content"] else "Summed up."

    with ScriptedServer(model) as server:
        llm = gateway(server)
        try:
            return await every_builder(llm)[name].build(source_of(PARTS))
        finally:
            await llm.aclose()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.deep if i else ()) for i, n in enumerate(SUMMARISING)]
)
async def test_a_node_that_the_model_cannot_summarise_has_extractive_text_and_the_rest_is_built(name: str) -> None:
    built = await with_failing_model(name)
    inner = [node.text.split("\n")[-1] for node in built.tree.nodes[built.tree.leaves :]]  # below a heading
    extracts = [text for text in inner if text != "Summed up."]
    assert all(failure.startswith("ModelRejectedError") for failure in built.failures)
    assert 1 <= len(extracts) <= len(built.failures) < len(inner)
    assert all("Fact" in text for text in extracts)
