"""All that a store holds, read through its own methods, so that two stores can be compared.

As a program (``python -m bench.trust.content STORE QUERIES``) it opens the store of a folder and says what is in it: a
process of its own, because reading what is damaged may end one.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter

from bench.product import Ended, run_python
from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.errors import DiscoRagError
from discorag.store.records import SearchQuery
from discorag.store.store import Store, open_store

BUILDERS = ("snapped", "bisection")
"""Whose trees the experiments have built: the default's, and one that the first question builds."""
_REFUSED = 2

Content = dict[str, str]
"""What is stored -> a digest of it."""


class Reading(BaseModel):
    """How to open a store, and what to search it for."""

    model_config = ConfigDict(frozen=True)

    encoder_version: str
    dimension: int
    vectors: list[list[float]]
    texts: list[str]

    def queries(self) -> list[SearchQuery]:
        """The searches: fused by rank, so that both kinds of vectors are needed."""
        return [
            SearchQuery(vector=np.array(vector, dtype=np.float32), text=text, retrieval="hybrid", top_k=5)
            for vector, text in zip(self.vectors, self.texts, strict=True)
        ]


def content(store: Store, scope: Scope, queries: Sequence[SearchQuery]) -> Content:
    """Documents, chunks with their RST trees, retrieval trees, and what searches find. Raises what reading raises."""
    found = Content()
    for manifest in store.manifests(scope):
        found[f"document {manifest.uri}"] = _digest(store.document(scope, manifest.doc_id), manifest.fingerprint)
        for chunk in store.chunks_of(scope, manifest.doc_id):
            found[f"chunk {manifest.uri} {chunk.order}"] = _digest(chunk)
        found |= dict(_trees(store, scope, manifest.doc_id, manifest.uri))
    for number, query in enumerate(queries):
        found |= dict(_searched(store, scope, query, number))
    return found


def _trees(store: Store, scope: Scope, doc_id: str, uri: str) -> Iterator[tuple[str, str]]:
    for builder in BUILDERS:
        for outline in store.outlines(scope, builder, [doc_id]).values():
            yield f"tree {uri} {builder}", _digest(*store.tree_of(scope, outline).nodes)


def _searched(store: Store, scope: Scope, query: SearchQuery, number: int) -> Iterator[tuple[str, str]]:
    """Ids are not compared where scores tie: only rounded scores say what order means."""
    hits = store.search(scope, query)
    yield f"search {number}", _digest(*sorted(f"{h.score:.4f} {h.chunk_id}" for h in hits))
    documents = store.search_documents(scope, query, limit=5)
    yield f"search {number} documents", _digest(*sorted(f"{s:.4f} {d}" for d, s in documents))
    outlines = store.outlines(scope, BUILDERS[0], [d for d, _ in documents])
    scores = store.node_scores(scope, outlines, query.vector)
    yield f"search {number} nodes", _digest(*(f"{d} {np.round(scores[d], 3).tolist()}" for d in sorted(scores)))


def _digest(*parts: BaseModel | str) -> str:
    said = "\x00".join(p if isinstance(p, str) else p.model_dump_json() for p in parts)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def missing(of: Mapping[str, str], where: Mapping[str, str]) -> list[str]:
    """What the first has and the second has not."""
    return sorted(of.keys() - where.keys())


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """What both have, but not alike, and what only the second has."""
    return sorted([k for k in one.keys() & other.keys() if one[k] != other[k]] + missing(other, one))


def read(store: Path, reading: Path) -> Content | Ended:
    """The content of a store in a folder, or how the process that read it ended."""
    done = run_python(store, "-m", "bench.trust.content", str(store), str(reading))
    return done if done.code else TypeAdapter(Content).validate_json(done.out)


def _main(store: Path, reading: Path, again: str = "") -> None:
    asked = Reading.model_validate_json(reading.read_text(encoding="utf-8"))
    try:
        with open_store(StoreSettings(path=store), (asked.encoder_version, asked.dimension)) as opened:
            said = json.dumps(content(opened, Scope(), asked.queries()))
            if again:
                sys.stdout.write("ready\n")
                sys.stdout.flush()
                sys.stdin.readline()
                said = json.dumps(content(opened, Scope(), asked.queries()))
    except DiscoRagError as error:
        sys.stderr.write(str(error))
        sys.exit(_REFUSED)
    sys.stdout.write(said)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
