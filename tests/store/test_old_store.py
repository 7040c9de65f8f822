"""A store that an earlier version wrote: whatever changes, people's stores open and nothing in them is lost.

``old/c571e80.tar.xz`` holds what that commit wrote for three of the example documents, ingested from ``/srv/library``
into corpus ``vitamin-d``, and asked once with ``--retriever raptor``.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from discorag.store.check import Mended
from discorag.store.edge import EdgeStore
from discorag.store.mend import migrated
from discorag.store.protocol import SearchQuery
from discorag.types.document import Scope
from discorag.types.errors import StoreFormatError

SCOPE = Scope(tenant="default", corpus="vitamin-d")
NAMES = ("guideline-statement.md", "harlow-winter-trial.md", "pooled-analysis.md")
EXAMPLES = Path(__file__).parents[2] / "examples" / "vitamin-d"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeStore]:
    home = tmp_path_factory.mktemp("old")
    with tarfile.open(Path(__file__).parent / "old" / "c571e80.tar.xz") as archive:
        archive.extractall(home, filter="data")
    encoder = json.loads((home / "store" / "store.json").read_text())
    made = {"dimension": encoder["dimension"], "encoder_version": encoder["encoder_version"]}
    with pytest.raises(StoreFormatError, match="migrate"):
        EdgeStore(home / "store", **made)
    opened, mended = migrated(home / "store", **made)
    assert mended == Mended((), (), ())
    opened.close()
    opened = EdgeStore(home / "store", **made)
    assert not opened.check().differences
    yield opened
    opened.close()


def test_every_document_is_listed_and_has_its_text(store: EdgeStore) -> None:
    manifests = store.manifests(SCOPE)
    assert [m.uri for m in manifests] == [f"/srv/library/{name}" for name in NAMES]
    for manifest, name in zip(manifests, NAMES, strict=True):
        document = store.document(SCOPE, manifest.doc_id)
        assert document.content_hash == manifest.content_hash
        assert document.text.strip() == (EXAMPLES / name).read_text().strip()


def test_every_chunk_stands_where_it_says_and_has_its_tree(store: EdgeStore) -> None:
    for manifest in store.manifests(SCOPE):
        text = store.document(SCOPE, manifest.doc_id).text
        chunks = store.chunks_of(SCOPE, manifest.doc_id)
        assert len(chunks) == manifest.chunks
        for chunk in chunks:
            assert chunk.text == text[chunk.span.start : chunk.span.end]
            assert chunk.tree is not None
            assert len(chunk.tree.splits) == len(chunk.tree.edus) - 1 > 0


@pytest.mark.parametrize("builder", ["snapped", "clusters"])
def test_retrieval_trees_are_read_with_their_nodes_places(store: EdgeStore, builder: str) -> None:
    ids = [m.doc_id for m in store.manifests(SCOPE)]
    outlines = store.outlines(SCOPE, builder, ids)
    assert set(outlines) == set(ids)
    for doc_id in ids:
        text, tree = store.document(SCOPE, doc_id).text, store.tree(SCOPE, doc_id, builder)
        assert all(n.text == text[n.spans[0].start : n.spans[0].end] for n in tree.nodes[: tree.leaves])
        assert len(outlines[doc_id].shape.words) == len(tree.nodes)


def test_searches_find_chunks_and_nodes_by_the_stored_vectors(store: EdgeStore) -> None:
    ids = [m.doc_id for m in store.manifests(SCOPE)]
    vector = np.full(384, 384**-0.5, np.float32)
    hits = store.search(SCOPE, SearchQuery(vector=vector, text="flu deficiency", retrieval="hybrid", top_k=6))
    assert len(hits) == sum(m.chunks for m in store.manifests(SCOPE))
    outlines = store.outlines(SCOPE, "snapped", ids)
    scores = store.node_scores(SCOPE, outlines, vector)
    assert {d: len(s) for d, s in scores.items()} == {d: len(o.shape.words) for d, o in outlines.items()}
