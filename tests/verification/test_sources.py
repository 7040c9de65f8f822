"""Summaries give way to what they are summaries of, before anything is verified."""

from pathlib import Path

import numpy as np
import pytest

from discorag import DiscoRAG
from discorag.generation.extractive import abstain_from
from discorag.models.protocol import Encoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import Plan
from discorag.schema.document import Chunk, Scope
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.store.outline import node_id
from discorag.verification.summaries import replace_summaries
from tests.conftest import Pipelines
from tests.inputs import selector_of

FIRST, LAST = "Iron rusts in wet air.", "Gold does not rust at all."


@pytest.fixture
def rag(pipeline: Pipelines, tmp_path: Path) -> DiscoRAG:
    rag = pipeline()
    for name, told in {"a": f"{FIRST} It is common. {LAST}", "b": "Paint helps. Salt does not."}.items():
        (tmp_path / f"{name}.txt").write_text(told, encoding="utf-8")
    rag.ingest(tmp_path, parser="none", retriever="dense")
    return rag


def passages(rag: DiscoRAG) -> tuple[Chunk, Chunk, Chunk]:
    """The first sentence of a.txt, b.txt, and a summary of the last sentence of a.txt."""
    a, b = sorted(
        (chunk for m in rag.documents() for chunk in rag.backends.store.chunks_of(Scope(), m.doc_id)),
        key=lambda chunk: chunk.title,
    )
    leaf = RetrievalNode(text=LAST, spans=(a.sentences[2],))
    summary = RetrievalNode(text="Gold stays as it is.", spans=leaf.spans, children=(0,), layer=1)
    tree, store = RetrievalTree(builder="raptor", nodes=(leaf, summary)), rag.backends.store
    vectors = np.eye(2, rag.backends.encoder.dimension, dtype=np.float32)
    store.put_tree(Scope(), a.doc_id, tree, vectors, version="1")
    key = store.outlines(Scope(), "raptor", [a.doc_id])[a.doc_id].key
    [above] = store.chunks(Scope(), [node_id(key, 1)])
    return a.model_copy(update={"sentences": a.sentences[:1], "tree": None}), b, above


def test_a_cited_summary_gives_way_to_what_lies_below_it_also_in_a_chunk_that_is_there_already(rag: DiscoRAG) -> None:
    a, b, summary = passages(rag)
    plan = Plan(paragraph="Say that gold stays [1.1], then the rest [2].")
    inputs = AnswerInputs(query="What rusts?", chunks=(summary, a, b), plan=plan)
    below, draft = replace_summaries(
        inputs, "Gold does not rust [1.1]. Iron does [2]. All do [7].", rag.backends.store, Scope()
    )
    assert [chunk.id for chunk in below.chunks] == [a.id, b.id]
    assert [below.chunks[0].slice(s) for s in below.chunks[0].sentences] == [FIRST, LAST]
    assert draft == "Gold does not rust [1]. Iron does [1]. All do \\[7]."
    assert below.plan == Plan(paragraph="Say that gold stays [1], then the rest [1].")


def test_a_summary_of_a_deleted_document_has_nothing_below_it(rag: DiscoRAG) -> None:
    a, b, summary = passages(rag)
    inputs = AnswerInputs(query="What rusts?", chunks=(summary, b))
    rag.backends.store.delete(Scope(), a.doc_id)
    below, draft = replace_summaries(inputs, "Gold does not rust [1]. Paint helps [2].", rag.backends.store, Scope())
    assert [chunk.id for chunk in below.chunks] == [b.id]
    assert draft == "Gold does not rust \\[1]. Paint helps [1]."


def test_summaries_that_are_not_cited_bring_nothing_unless_nothing_is_cited(rag: DiscoRAG) -> None:
    a, b, summary = passages(rag)
    inputs = AnswerInputs(query="What rusts?", chunks=(b, summary))
    for draft, ids in (("Paint helps [1].", [b.id]), ("Paint helps.", [b.id, a.id])):
        below, _ = replace_summaries(inputs, draft, rag.backends.store, Scope())
        assert [c.id for c in below.chunks] == ids


async def test_the_closest_passages_of_a_refusal_are_sentences_of_documents(rag: DiscoRAG, encoder: Encoder) -> None:
    a, _, summary = passages(rag)
    inputs = AnswerInputs(query="Who won?", chunks=(summary, a))
    answer = await abstain_from(inputs, selector_of(encoder), "Nothing does.")
    assert FIRST in [e.text for e in answer.nearest]
    assert all(e.doc_id == a.doc_id for e in answer.nearest)
