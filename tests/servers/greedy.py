"""A model that always goes on as long as a JSON schema allows, and a server that cuts it off at its limit."""

import json
from typing import Any, cast

from tests.servers.scripted import Body, Scripted

ENDLESS = 10_000


def longest(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """A longest value of the schema: all properties, full lists of one item, the longest name of an enumeration."""
    root = root or schema
    if reference := schema.get("$ref"):
        return longest(root["$defs"][str(reference).rpartition("/")[2]], root)
    if values := schema.get("enum"):
        return max(cast("list[Any]", values), key=lambda value: len(json.dumps(value)))
    kind = schema.get("type")
    if kind == "object":
        return {name: longest(part, root) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [longest(schema["items"], root)] * schema.get("maxItems", ENDLESS)
    if kind == "string":
        return "word " * (schema.get("maxLength", ENDLESS) // 5)
    return 1


def greedy(body: Body) -> Scripted:
    """The longest reply, cut off at the limit; four characters are a token."""
    schema = body["response_format"]["json_schema"]["schema"]
    text, room = json.dumps(longest(schema), separators=(",", ":")), 4 * body["max_completion_tokens"]
    return Scripted(text) if len(text) <= room else Scripted(text[:room], finish_reason="length")
