"""Requests drawn from an OpenAPI schema: mostly as it wants them, some not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote
from uuid import UUID

Json = Any
Known = Callable[[str, random.Random], Json]
"""Name of a parameter or property -> a value that means something to the server; None: any of its schema."""
ODD: tuple[Json, ...] = (
    "", "a" * 5000, "../../etc/passwd", "\x00", "𝔘\u202e", "' OR 1=1 --", "%2e%2e%2f", 2**64, -(2**64), -1, 1e308, 0.1,
    None, True, [], {}, [[]], {"a": {"b": 1}},
)  # fmt: skip
_INVALID = 0.15
_OPTIONAL = 0.3
_DEEPEST = 4
_MOST = 3  # one more than the optional properties of an object: each may spoil the whole
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """One method of one path, as the schema describes it."""

    method: str
    path: str
    parameters: tuple[Mapping[str, Json], ...]
    bodies: Mapping[str, Json]


@dataclass(frozen=True)
class Drawn:
    """A request.

    Args:
        method: Its method.
        path: With its parameters in their places.
        template: The path as the schema has it.
        ids: What stands in the path's places.
        rest: Further arguments of ``httpx.Client.request``.
    """

    method: str
    path: str
    template: str
    ids: tuple[str, ...]
    rest: Mapping[str, Any] = field(default_factory=dict[str, Any])


def operations(schema: Mapping[str, Json]) -> list[Operation]:
    """All that the schema lists."""
    return [_operation(m, path, item) for path, item in schema["paths"].items() for m in _METHODS if m in item]


def _operation(method: str, path: str, item: Mapping[str, Json]) -> Operation:
    found = item[method]
    bodies = {kind: c["schema"] for kind, c in found.get("requestBody", {}).get("content", {}).items() if "schema" in c}
    return Operation(method.upper(), path, tuple(found.get("parameters", ())), bodies)


class Drawer:
    """Draws requests of one server.

    Args:
        schema: Its OpenAPI schema.
        known: Values by name.
        rng: What is random.
    """

    def __init__(self, schema: Mapping[str, Json], known: Known, rng: random.Random) -> None:
        self._schemas: Mapping[str, Json] = schema.get("components", {}).get("schemas", {})
        self._known, self._rng = known, rng

    def request(self, operation: Operation) -> Drawn:
        """One of this operation."""
        path, ids, query, headers = operation.path, list[str](), dict[str, str](), dict[str, str]()
        for parameter in operation.parameters:
            name, where = parameter["name"], parameter["in"]
            value = str(self.value(parameter.get("schema", {}), name))
            if where == "path":
                path = path.replace(f"{{{name}}}", quote(value, safe="") or "%20")
                ids.append(value)
            elif parameter.get("required") or self._rng.random() < _OPTIONAL or name == "corpus":
                query |= {name: value} if where == "query" else {}
                headers |= {name: _plain(value)} if where == "header" else {}
        rest = {"params": query, "headers": headers} | self._body(operation)
        return Drawn(operation.method, path, operation.path, tuple(ids), rest)

    def _body(self, operation: Operation) -> dict[str, Any]:
        if not operation.bodies:
            return {}
        kind = self._rng.choice([*operation.bodies])
        if self._rng.random() < _INVALID / 3:
            return {"content": self._rng.randbytes(self._rng.randrange(200))}
        made = self.value(operation.bodies[kind], "")
        if kind != "multipart/form-data":
            return {"json": made} if _is_json(made) else {"content": b"{"}
        return {"files": [*_parts(cast("dict[str, Json]", made))]} if isinstance(made, dict) else {"content": b"--"}

    def value(self, schema: Json, name: str, depth: int = 0) -> Json:
        """A value of this schema under this name; one time in seven something else."""
        if name and self._rng.random() < _INVALID / (depth + 1):
            return self._rng.choice(ODD)
        known = self._known(name, self._rng) if name else None
        return self._of(schema, name, depth) if known is None else known

    def _of(self, schema: Json, name: str, depth: int) -> Json:
        if "$ref" in schema:
            return self._of(self._schemas.get(schema["$ref"].rpartition("/")[2], {}), name, depth)
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return self._of(self._rng.choice(schema[union]), name, depth)
        if "enum" in schema:
            return self._rng.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        return self._plain(schema, name, depth)

    def _plain(self, schema: Json, name: str, depth: int) -> Json:
        rng, kind = self._rng, schema.get("type")
        low, high = schema.get("minimum", 0), schema.get("maximum", 100)
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(rng.randrange(1, 3))]
            case "integer":
                return rng.choice((low, high, 2**64, rng.randint(int(low), max(int(low), int(high)))))
            case "number":
                return rng.uniform(low, high)
            case "boolean":
                return rng.random() < 0.5
            case "null":
                return None
            case _:
                return (
                    str(UUID(int=rng.getrandbits(128))) if schema.get("format") == "uuid" else rng.choice(("x", "tide"))
                )

    def _object(self, schema: Json, depth: int) -> Json:
        if depth >= _DEEPEST:
            return {}
        parts: dict[str, Json] = schema.get("properties", {})
        wanted = {*schema.get("required", ()), "corpus"}
        others = [name for name in parts if name not in wanted]
        wanted.update(self._rng.sample(others, min(len(others), self._rng.randrange(_MOST) + bool(depth))))
        return {name: self.value(part, name, depth + 1) for name, part in parts.items() if name in wanted}


def _plain(value: str) -> str:
    """What a header may hold."""
    return "".join(c for c in value if 32 <= ord(c) < 127)[:1000].strip()


def _parts(made: Mapping[str, Json]) -> Iterator[tuple[str, Any]]:
    """The parts of a form; files are pairs of a name and bytes."""
    for name, value in made.items():
        several = cast("list[Json]", value) if isinstance(value, list) else [value]
        for one in several:
            yield name, (one if isinstance(one, tuple) else (None, str(one)))


def _is_json(value: Json) -> bool:
    """Whether it holds no files."""
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True
