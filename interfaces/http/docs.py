"""What ``/docs`` shows: a sentence for every call and a description of every field, from docstrings and docs.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FIELDS: dict[str, str] = _TABLES["fields"]
"""Descriptions that no docstring gives, by ``Class.field`` or by the name of fields, parameters and classes."""
BODIES: dict[str, Json] = _TABLES["bodies"]
"""An example of every body."""


def describe(api: Json) -> Json:
    """Complete an OpenAPI document in place: summaries, and descriptions of parameters and fields."""
    for name, schema in api["components"]["schemas"].items():
        text, of_fields = _split(schema.get("description", ""))
        schema["description"] = text or FIELDS.get(name, "")
        if name in BODIES:
            schema["examples"] = [BODIES[name]]
        for field, found in schema.get("properties", {}).items():
            known = of_fields.get(field) or FIELDS.get(f"{name}.{field}") or FIELDS.get(field)
            if known and "description" not in found:
                found["description"] = known
    for operation in (call for calls in api["paths"].values() for call in calls.values()):
        summary, _, rest = operation.get("description", "").partition("\n\n")
        operation |= {"summary": " ".join(summary.split()), "description": rest}
        for parameter in operation.get("parameters", ()):
            parameter.setdefault("description", FIELDS.get(parameter["name"], ""))
    return api


def _split(docstring: str) -> tuple[str, dict[str, str]]:
    """A docstring without its sections, and what its section ``Args`` says of each field."""
    text, *sections = re.split(r"\n\n(?=\w+:\n)", docstring)
    args = next((s for s in sections if s.startswith("Args:")), "")
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", args, re.MULTILINE)
    return text, {name: " ".join(said.split()) for name, said in found}
