"""A stored tree level by level: what is shown of the default's, of parsed ones, and where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from discorag import DiscoRAG
from discorag.retrieval.levels import Levels, unfold
from discorag.schema.errors import NotFoundError
from tests.conftest import Pipelines

NOTES = """# Tides

The moon pulls the sea. It rises twice a day.

## Spring tides

Sun and moon stand in line. Because of that the range is large.

One sentence stands alone here.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("notes")
    (home / "tides.md").write_text(NOTES, encoding="utf-8")
    return home


def of(rag: DiscoRAG, *below: int, builder: str | None = None, offset: int = 0, limit: int = 100) -> Levels:
    [document] = rag.documents()
    return unfold(rag.backends.store, rag.scope(), document.doc_id, builder, below, offset, limit)


def told(levels: Levels) -> list[str]:
    return [node.heading or node.text for node in levels.nodes]


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines, folder: Path) -> DiscoRAG:
    made = shared_pipeline()
    made.ingest(folder, parser="rules")
    return made


def test_overlapping_runs_are_shown_below_the_authors_sections_and_paragraphs(rag: DiscoRAG) -> None:
    found = of(rag)
    assert (found.builder, found.builders, found.roots) == ("snapped", ("snapped",), 1)
    [root] = found.nodes
    assert (root.kind, root.leaves, root.parent) == ("section", found.leaves, None)
    first = of(rag, root.node)
    assert [node.kind for node in first.nodes] == ["text", "group", "section"]
    second = of(rag, first.nodes[2].node)
    assert told(second)[0] == "## Spring tides"
    assert told(second)[2] == "One sentence stands alone here."
    assert told(first)[1] == "The moon pulls the sea. It rises twice a day."
    both = of(rag, first.nodes[1].node, second.nodes[1].node)
    assert [node.parent for node in both.nodes] == [first.nodes[1].node] * 2 + [second.nodes[1].node] * 2
    assert {node.children for node in both.nodes} == {0}


def test_every_leaf_is_the_documents_own_characters(rag: DiscoRAG) -> None:
    waiting, leaves = list(of(rag).nodes), 0
    while waiting:
        node = waiting.pop()
        if node.children:
            waiting += of(rag, node.node).nodes
            continue
        leaves += 1
        [span] = node.spans
        assert node.text == span.of(NOTES.strip("\n") + "\n")
    assert leaves == of(rag).leaves


def test_children_come_in_parts(rag: DiscoRAG) -> None:
    [root] = of(rag).nodes
    whole = of(rag, root.node)
    assert told(of(rag, root.node, offset=1, limit=1)) == told(whole)[1:2]
    assert told(of(rag, root.node, offset=9)) == []


def test_a_parsed_tree_is_shown_as_it_is_with_its_relations(pipeline: Pipelines, folder: Path) -> None:
    rag = pipeline()
    rag.ingest(folder, parser="rules", retriever="discourse")
    found = of(rag)
    assert found.builder == "discourse"
    assert [node.kind for node in found.nodes] == ["relation"]
    assert found.nodes[0].leaves == found.leaves


def test_a_document_a_builder_or_a_node_that_is_not_there_is_not_found(rag: DiscoRAG) -> None:
    with pytest.raises(NotFoundError, match="no node 4000"):
        of(rag, 4000)
    with pytest.raises(NotFoundError, match="discourse"):
        of(rag, builder="discourse")
    with pytest.raises(NotFoundError):
        unfold(rag.backends.store, rag.scope(), "0" * 32)
