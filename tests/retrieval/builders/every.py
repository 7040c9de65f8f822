"""The builders of all retrievers by name, made of parts that cost next to nothing."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

import prompts
from discorag.config import Settings, TreeSettings
from discorag.discourse.parse.rules import RuleParser
from discorag.models.protocol import LanguageModel
from discorag.models.toolbox import Toolbox
from discorag.retrieval.builders.base import Builder
from discorag.retrieval.registry import TreeTools, tree_retrievers
from tests.retrieval.hashing import HashingEncoder

OVERLAPPING = frozenset({"clusters", "snapped"})
"""Builders that put a node under several parents: soft clusters, and windows."""
GAPPED = frozenset({"clusters"})
"""Builders whose nodes may stand for text with gaps."""
ONE_ROOT = frozenset({"bisection", "discourse", "headings"})


def every_builder(model: LanguageModel | None = None, *, window: int = 256) -> Mapping[str, Builder]:
    """All of them; a model, where one is given, summarises every inner node.

    Args:
        model: Writes summaries.
        window: Tokens that the encoder reads of a text; a small one makes many chunks of few sentences.
    """

    def model_for(_: str) -> LanguageModel | None:
        return model

    parts = SimpleNamespace(
        settings=Settings(trees=TreeSettings(tau=0)),
        encoder=HashingEncoder(window + HashingEncoder(0).tokens.special_tokens),
        model=model,
        model_for=model_for,
        template=prompts.load,
    )
    tools = TreeTools(cast("Toolbox", parts), RuleParser())
    return {retriever.builder: retriever.build(tools) for retriever in tree_retrievers().values()}
