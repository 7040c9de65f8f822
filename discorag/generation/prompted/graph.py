"""The rhetorical graph as JSON: the form in which a model reads it and writes it.

``{"c1":{"2":"SUPPORTS"},"c2":{}}``: for every passage, what it does for which other. That the targets are keys keeps a
grammar from writing one twice (``uniqueItems`` is refused by vLLM's), and bounds every row.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal, cast

from pydantic import TypeAdapter, ValidationError

from discorag.schema.answer_inputs import AnswerInputs
from discorag.schema.chunk_relations import EDGE_RELATIONS, ChunkRelation
from discorag.schema.graph import Edge, RhetoricalGraph

_NAMES = tuple(r.value for r in EDGE_RELATIONS)
_ROWS: TypeAdapter[dict[str, dict[int, str]]] = TypeAdapter(
    cast("Any", dict[str, dict[int, cast("Any", Literal[_NAMES])]])
)


@cache
def graph_schema(k: int) -> dict[str, Any]:
    """The output schema for ``k`` chunks: every source is required, so that an omission is not taken for UNRELATED."""
    sources = range(1, k + 1)
    return {
        "type": "object",
        "properties": {f"c{i}": _row([j for j in sources if j != i]) for i in sources},
        "required": [f"c{i}" for i in sources],
        "additionalProperties": False,
        "$defs": {"relation": {"enum": list(_NAMES)}},
    }


def _row(targets: list[int]) -> dict[str, Any]:
    links = {str(j): {"$ref": "#/$defs/relation"} for j in targets}
    return {"type": "object", "properties": links, "additionalProperties": False}


def graph_json(inputs: AnswerInputs, graph: RhetoricalGraph) -> str:
    """A graph in this form: compact JSON, every source present."""
    rows: dict[str, dict[str, str]] = {f"c{i}": {} for i in range(1, len(inputs.chunks) + 1)}
    for edge in graph.edges:
        rows[f"c{inputs.number(edge.source)}"][str(inputs.number(edge.target))] = edge.relation.value
    return json.dumps(rows, separators=(",", ":"))


def graph_of(inputs: AnswerInputs, text: str) -> RhetoricalGraph:
    """The graph that a model wrote.

    Raises:
        ValueError: Bad JSON, a missing source, an unknown label or target, a loop or a repeated pair. The message tells
            the model what to change.
    """
    ids = [c.id for c in inputs.chunks]
    rows = _rows(text)
    if wrong := sorted(rows.keys() ^ {f"c{i}" for i in range(1, len(ids) + 1)}):
        raise ValueError(f"Name every passage from c1 to c{len(ids)} once; missing or unknown: {', '.join(wrong[:5])}.")
    if unknown := {to for row in rows.values() for to in row} - set(range(1, len(ids) + 1)):
        raise ValueError(f"There are passages 1 to {len(ids)}, but not {sorted(unknown)[:5]}.")
    edges = tuple(
        Edge(source=ids[i], target=ids[to - 1], relation=ChunkRelation(name))
        for i in range(len(ids))
        for to, name in rows[f"c{i + 1}"].items()
    )
    return RhetoricalGraph(chunks=tuple(ids), edges=edges)


def _rows(text: str) -> dict[str, dict[int, str]]:
    try:
        return _ROWS.validate_python(json.loads(text, object_pairs_hook=_each_once))
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
        raise ValueError("The reply is not of the requested form. " + "; ".join(problems)) from error


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"A passage comes twice among {[name for name, _ in pairs][:10]}.")
    return found
