"""Writes `web/src/api/types.ts`: what the API sends and takes, from its schema, and the stages in their order."""

import json
import re
from pathlib import Path
from typing import Any

from discorag.config import Settings
from discorag.schema.ledger import STAGES
from interfaces.http.app import create_app

FILE = Path(__file__).parents[2] / "web" / "src" / "api" / "types.ts"
SOURCES = FILE.parents[1]
HEAD = "/** Written by `make api-types`. Spans count Unicode code points of a document's canonical text. */"
SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def main() -> None:
    """Write the file again."""
    FILE.write_text(typescript(create_app(Settings()).openapi()), encoding="utf-8")


def typescript(api: dict[str, Any]) -> str:
    """The schemas of an OpenAPI document as TypeScript; what is sent has all fields, defaults included."""
    schemas: dict[str, Any] = api["components"]["schemas"]
    responses = [method["responses"] for methods in api["paths"].values() for method in methods.values()]
    sent = _reachable(responses, schemas)
    used = _used(schemas)
    parts = [_declared(name, schema, whole=name in sent) for name, schema in sorted(schemas.items()) if name in used]
    order = f"/** Of a question, in their order. */\nexport const STAGE_ORDER = {json.dumps(list(STAGES))};"
    return "\n\n".join([HEAD, order, *parts]) + "\n"


def _used(schemas: dict[str, Any]) -> set[str]:
    """Names of the schemas that a file of the page imports, and of those that they refer to."""
    files = [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.ts*") if path != FILE]
    imports = [names for text in files for names in re.findall(r'import type \{([^}]*)\} from "[./a-z]*types"', text)]
    own = {name for names in imports for name in re.findall(r"\w+", names)} & schemas.keys()
    return own | _reachable([schemas[name] for name in own], schemas)


def _reachable(part: Any, schemas: dict[str, Any]) -> set[str]:
    """Names of the schemas that a part of the document refers to, directly or through others."""
    names, waiting = set[str](), [part]
    while waiting:
        found = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(waiting.pop()))) - names
        names |= found
        waiting += [schemas[name] for name in found]
    return names


def _declared(name: str, schema: dict[str, Any], *, whole: bool) -> str:
    if "enum" in schema:
        return f"export type {name} = {' | '.join(map(json.dumps, schema['enum']))};"
    if "prefixItems" in schema:
        return f"export type {name} = {_type(schema)};"
    required = schema["properties"].keys() if whole else schema.get("required", [])
    fields = [f"  {k}{'' if k in required else '?'}: {_type(v)};" for k, v in schema["properties"].items()]
    return "\n".join([f"export interface {name} {{", *fields, "}"])


def _type(schema: dict[str, Any]) -> str:
    """A field's type. Names that are listed in place are those of a registry, to which plugins add: any string."""
    if "$ref" in schema:
        return _name(schema)
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(option) for option in schema["anyOf"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        item = _type(schema["items"])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties", True)
        return f"Record<string, {'unknown' if values is True else _type(values)}>"
    return SIMPLE.get(schema.get("type", ""), "unknown")


def _name(schema: dict[str, Any]) -> str:
    return schema["$ref"].removeprefix("#/components/schemas/")


if __name__ == "__main__":
    main()
