"""One builder in a process of its own: what it takes, or what its prompts cost; says it on stdout, as JSON.

Run by `bench.build`. A tree is made as a query makes it: by `discorag.trees.index.TreeIndex`, which builds,
encodes and stores. Before the clock starts, another text goes the same way: it loads the encoder and the parser, and
numba compiles what UMAP needs.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from bench.process import CORES, peak_mb, settings
from discorag.models.protocol import LanguageModel, Reply, Request
from discorag.store.protocol import Manifest
from discorag.store.store import Store
from discorag.text.chunks import chunk_id
from discorag.text.headings import build_hierarchy
from discorag.text.tokens import TokenCounter
from discorag.trees.builder import Source
from discorag.trees.registry import RETRIEVERS
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.errors import InputError
from discorag.types.ids import fingerprint
from discorag.types.span import Span
from discorag.types.usage import Usage
from discorag.types.vectors import Vectors
from eval.datasets.registry import load_benchmark
from eval.options import data_folder
from eval.sample import SourceDocument
from nodes.resources import Resources
from nodes.trees import tree_index

T = TypeVar("T")
Offsets = Callable[[str], Sequence[tuple[int, int]]]
"""The character ranges of what a text is measured in."""

SCOPE = Scope(tenant="bench", corpus="bench")
SUMMARY_WORDS = 100
"""Of a scripted summary (RAPTOR, appendix C: 131 tokens)."""
WARM_TOKENS = 3_000
"""Enough leaves for UMAP to run."""
WORDS = 5_000
_DOCUMENTS = 20
_CHUNK = "<chunk>"


class Timing(BaseModel):
    """What one tree took: seconds to build, encode and store it, and the peak of the process's memory in 10^6 bytes."""

    model_config = ConfigDict(frozen=True)

    seconds: float
    nodes: int
    peak_mb: float


@dataclass(frozen=True)
class Made:
    """A tree that was made: seconds to build, encode and store it; its nodes; tokens of the language model."""

    seconds: float
    nodes: int
    usage: Usage


class ScriptedModel(LanguageModel):
    """Answers every request with the first `SUMMARY_WORDS` words of its passage, and counts tokens.

    Args:
        tokens: What prompts and replies are counted with.
    """

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens

    @property
    def name(self) -> str:
        """See `LanguageModel.name`."""
        return "scripted"

    async def complete(self, request: Request[T]) -> Reply[T]:
        """See `LanguageModel.complete`."""
        prompt = [m.content for m in request.messages]
        text = " ".join(prompt[-1].rpartition(_CHUNK)[2].removesuffix("</chunk>").split()[:SUMMARY_WORDS])
        counts = list(map(len, self._tokens.token_offsets([*prompt, text])))
        usage = Usage(tokens_in=sum(counts[:-1]), tokens_out=counts[-1], calls=1)
        return Reply(text=text, value=request.parse(text), usage=usage)

    async def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        """See `LanguageModel.stream`."""
        yield await self.complete(request)


def papers() -> list[SourceDocument]:
    """The papers of the lay-summaries dataset, as Markdown. Raises `MissingPathError` where there are none."""
    path = data_folder() / "lay_summaries/test.json"
    return list(load_benchmark("lay-summaries", path).documents.values())


def prose(documents: Iterable[SourceDocument], size: int, offsets: Offsets, *, uri: str) -> Document:
    """The documents one after another, cut after ``size`` tokens or words, whatever ``offsets`` finds.

    Raises:
        InputError: They are shorter.
    """
    parts, left = list[str](), size
    for text in (d.text for d in documents):
        found = offsets(text)
        parts.append(text[: found[left - 1][1]] if left <= len(found) else text)
        left -= len(found)
        if left <= 0:
            return Document(uri=uri, title="Papers", text="\n\n".join(parts), media_type="text/markdown")
    raise InputError(
        f"The documents have {size - left} tokens or words, not {size}.", hint="Set DISCO_RAG_DATA, or ask for less."
    )


def words_in(text: str) -> list[tuple[int, int]]:
    """Words as white space separates them."""
    return [m.span() for m in re.finditer(r"\S+", text)]


def tokens_in(counter: TokenCounter) -> Offsets:
    """The encoder's tokens."""
    return lambda text: counter.token_offsets([text])[0]


def put_whole(store: Store, document: Document, vector: Vectors) -> str:
    """Store a document as one chunk with this unit vector, shape (d,), in `SCOPE`; its id."""
    doc_id, key, text = document.id_in(SCOPE), fingerprint(document.content_hash, {}), document.text
    span = Span(start=0, end=len(text))
    chunk = Chunk(id=chunk_id(doc_id, key, 0), doc_id=doc_id, order=0, span=span, text=text, sentences=(span,))
    manifest = Manifest(
        doc_id=doc_id,
        uri=document.uri,
        title=document.title,
        content_hash=document.content_hash,
        fingerprint=key,
        versions={},
        chunks=1,
    )
    store.put(SCOPE, document, manifest, [chunk], vector[None])
    return doc_id


async def made(deps: Resources, builder: str, document: Document) -> Made:
    """Put the document into the store, then make its tree; only the tree is timed."""
    doc_id = put_whole(deps.store, document, await deps.encoder.encode_query(document.title))
    index = tree_index(next(r for r in RETRIEVERS.values() if r.builder == builder), deps, SCOPE, "local")
    start = time.perf_counter()
    await index.ensure([doc_id])
    seconds = time.perf_counter() - start
    return Made(seconds, len((await index.tree(doc_id)).nodes), index.effort.usage)


async def timed(home: Path, builder: str, size: int, *, unit: str) -> Timing:
    """The time of one tree over ``size`` tokens or words, after a tree over `WARM_TOKENS` tokens of other text."""
    with Resources.open(settings(home, None)) as deps:
        documents, tokens = papers(), tokens_in(deps.encoder.tokens)
        await made(deps, builder, prose(reversed(documents), WARM_TOKENS, tokens, uri="/warm.md"))
        text = prose(documents, size, words_in if unit == "words" else tokens, uri="/timed.md")
        found = await made(deps, builder, text)
    return Timing(seconds=found.seconds, nodes=found.nodes, peak_mb=peak_mb())


async def llm_tokens(home: Path, builder: str, sizes: Sequence[int]) -> dict[int, int]:
    """Prompt and output tokens, by the size of the document in tokens, with `ScriptedModel` as language model."""
    with Resources.open(settings(home, None)) as deps:
        deps.model = ScriptedModel(deps.encoder.tokens)
        documents, tokens = papers(), tokens_in(deps.encoder.tokens)
        texts = {n: prose(documents, n, tokens, uri=f"/{n}.md") for n in sizes}
        return {n: (await made(deps, builder, text)).usage.total for n, text in texts.items()}


async def structured(documents: int = _DOCUMENTS, words: int = WORDS) -> float:
    """Document structure trees a second, without vectors and without storing, over texts of ``words`` words.

    The warm-up is the first text, made once before.
    """
    from discorag.models.encoder import PackagedEncoder
    from discorag.trees.builders.headings import HeadingBuilder

    builder, found = HeadingBuilder(PackagedEncoder().tokens), papers()
    rotated = [[*found[i:], *found[:i]] for i in range(min(documents, len(found)))]
    texts = [prose(rest, words, words_in, uri=f"/{i}.md") for i, rest in enumerate(rotated)]
    await builder.build(Source(texts[0], build_hierarchy(texts[0])))
    start = time.perf_counter()
    for text in texts:
        await builder.build(Source(text, build_hierarchy(text)))
    return len(texts) / (time.perf_counter() - start)


def _main(job: str, arguments: Sequence[str]) -> object:
    cores = 1 if job == "structured" else CORES
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    with tempfile.TemporaryDirectory() as folder:
        match job, arguments:
            case "timed", [builder, size, unit]:
                return asyncio.run(timed(Path(folder), builder, int(size), unit=unit)).model_dump()
            case "tokens", [builder, *sizes]:
                return asyncio.run(llm_tokens(Path(folder), builder, [int(n) for n in sizes]))
            case _:
                return asyncio.run(structured())


if __name__ == "__main__":
    print(json.dumps(_main(sys.argv[1], sys.argv[2:])))  # noqa: T201
