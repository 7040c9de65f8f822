"""The router that a running pipeline has."""

from __future__ import annotations

from discorag.models.toolbox import Toolbox
from discorag.retrieval.routers.llm import LlmRouter
from discorag.retrieval.routers.local import LocalRouter
from discorag.retrieval.routers.walk import Router


def router_of(box: Toolbox) -> Router:
    """The language model if there is one, else similarity."""
    return LlmRouter(box.model, box.template("route")) if box.model else LocalRouter(box.encoder)
