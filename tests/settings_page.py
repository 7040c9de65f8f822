"""Writes `docs/settings.md`: every setting with its default, as `discorag.config` declares it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from discorag.config import EndpointSettings, Settings

FILE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Every setting by its variable, with its default. [How to set one](options.md#settings).
"""
SHARED = EndpointSettings.model_fields


def page() -> str:
    """The page; what all model servers have in common comes once."""
    own = [(f"DISCO_RAG_{name.upper()}", field) for name, field in Settings.model_fields.items()]
    sections = [(name, field.annotation) for name, field in own if is_section(field)]
    tables = [table((name, field) for name, field in own if not is_section(field))]
    for name, section in sections:
        tables.append(f"## {name}\n\n{summary(section)}\n\n{table(rows(name, section))}")
    shared = table((f"...__{name.upper()}", field) for name, field in SHARED.items() if name != "base_url")
    tables.append(f"## Every model server\n\nThe same for ENCODER, LLM and RERANKER.\n\n{shared}")
    return "\n".join([HEAD, *tables])


def is_section(field: FieldInfo) -> bool:
    """Whether it holds settings of its own."""
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def summary(section: Any) -> str:
    """The first sentence of what a section says of itself."""
    return str(section.__doc__).split("\n")[0].replace("``", "`")


def rows(prefix: str, section: Any) -> Iterator[tuple[str, FieldInfo]]:
    """The settings of a section and of the sections in it."""
    for name, field in section.model_fields.items():
        if is_section(field):
            yield from rows(f"{prefix}__{name.upper()}", field.annotation)
        elif not (issubclass(section, EndpointSettings) and repr(field) == repr(SHARED.get(name))):
            yield f"{prefix}__{name.upper()}", field


def table(settings: Iterator[tuple[str, FieldInfo]]) -> str:
    """One row for each setting."""
    lines = ["| setting | default | meaning |", "| -- | -- | -- |"]
    for name, field in settings:
        default = "" if field.default_factory or field.default in (None, "", (), {}) else f"`{field.default}`"
        lines.append(f"| `{name}` | {default} | {escaped(field.description or '')} |")
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """The text as a cell of a table in Markdown."""
    return text.replace("\\", "\\\\").replace("<", "\\<").replace("|", "&#124;")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
