"""The graphs as LangGraph's server gets them (`langgraph.json`): it checks the context of each run first.

The server drops fields of a context that are not in the graph's schema, and the run continues without them. A factory
sees the context before that.
"""

from collections.abc import Callable
from typing import Any

from langgraph_sdk.runtime import ServerRuntime

from graphs import answer as answering
from graphs import baselines
from graphs import ingest as ingesting
from graphs.steps import Graph

Factory = Callable[[ServerRuntime[Any]], Graph]


def _checked(graph: Graph) -> Factory:
    """Return a factory of this graph. It raises ``ValidationError`` if a run's context has a wrong or unknown field."""

    def make(runtime: ServerRuntime[Any]) -> Graph:
        run, schema = runtime.execution_runtime, graph.context_schema
        if run and run.context and schema:
            schema(**run.context)
        return graph

    return make


answer, ingest = _checked(answering.graph), _checked(ingesting.graph)
full_context, retrieve_and_plan, plan_and_retrieve, markers = map(
    _checked, (baselines.full_context, baselines.retrieve_and_plan, baselines.plan_and_retrieve, baselines.markers)
)
