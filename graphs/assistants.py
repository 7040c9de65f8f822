"""The answer graph once for each preset, for `langgraph.json`: an assistant of its own in Studio."""

from typing import Any, cast

from pydantic import model_validator

from graphs.answer import Graph, build
from graphs.baselines import PIPELINES
from nodes.context import AnswerContext


def _graph(name: str) -> Graph:
    """The answer graph whose options are the preset's unless a run says otherwise: an assistant of its own."""

    class Preset(AnswerContext):
        @model_validator(mode="before")
        @classmethod
        def _with_preset(cls, given: Any) -> Any:
            return {**PIPELINES[name], **cast("dict[str, Any]", given)} if isinstance(given, dict) else given

    return build(name=name, context=Preset)


disco_rag_paper, standard_rag = _graph("disco-rag-paper"), _graph("standard-rag")
disretrieval, raptor, htsir, rdr2 = map(_graph, ("disretrieval", "raptor", "htsir", "rdr2"))
