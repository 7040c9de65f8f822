"""One part of every kind, as another package would bring them; each tells that it was asked."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discorag.config import EncoderSettings, RerankerSettings
from discorag.discourse.parse.parser import Limits, Unit
from discorag.discourse.parse.rules import RuleParser
from discorag.models.toolbox import Toolbox
from discorag.retrieval.builders.baselines import BisectionBuilder
from discorag.retrieval.builders.node_text import Concat
from discorag.retrieval.registry import SelectedNodes, TreeQuery, TreeRetriever, tree_retrievers
from discorag.schema.answer import Outcome
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.values import Vectors

ASKED: set[str] = set()


class TinyParser(RuleParser):
    """The rules under another name."""

    name = version = "tiny-parser"

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        ASKED.add("parser")
        return await super().parse(chunk)

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        ASKED.add("units")
        return super().parse_units(texts, kind)


class TinyBuilder(BisectionBuilder):
    """Halves under another name."""

    name = "tiny"


class TinyEncoder:
    """Counts of letters."""

    version, dimension = "tiny-encoder", 26

    def __init__(self) -> None:
        self.tokens = self
        self.max_tokens, self.special_tokens = 256, 0

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[m.span() for m in re.finditer(r"\S+", text)] for text in texts]

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._of(text) for text in texts]) if texts else np.zeros((0, 26), np.float32)

    async def encode_query(self, text: str) -> Vectors:
        ASKED.add("encoder")
        return self._of(text)

    def _of(self, text: str) -> Vectors:
        counts = np.array([1 + text.lower().count(chr(97 + i)) for i in range(26)], np.float32)
        return (counts / np.linalg.norm(counts)).astype(np.float32)


class TinyReranker:
    """Longer is better."""

    version = "tiny-reranker"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        ASKED.add("reranker")
        return tuple(float(len(text)) for text in texts)


async def chosen(asked: TreeQuery) -> SelectedNodes:
    """The first node, after the reranker was asked."""
    ASKED.add("retriever")
    await asked.reranker.scores(asked.question, ["a", "bb"])
    return await tree_retrievers()["sentences"].choose(replace(asked, words=20))


RETRIEVER = TreeRetriever("tiny", lambda _: TinyBuilder(Concat()), chosen)


def parser(_tools: Toolbox, _limits: Limits) -> TinyParser:
    return TinyParser()


async def encoder(_settings: EncoderSettings) -> Any:
    return TinyEncoder()


def reranker(_settings: RerankerSettings) -> TinyReranker:
    return TinyReranker()
