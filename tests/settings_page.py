"""Writes `docs/settings.md`: every setting that one can set, with its default, as `discorag.config` declares it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from discorag.config import EndpointSettings, Settings

FILE = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings

Every setting by its variable, with its default. [How to set one](options.md#settings). Most people set none, or some of
these:
"""
ADVANCED = """## Advanced

The rest, and who needs it.
"""
EVERYDAY = (
    "MODEL", "HOME", "CORPUS", "ANSWER", "DATABASE_URL", "STORE__URL", "ENCODER__MODEL", "RERANKER__MODEL", "API__KEYS",
    "API__PORT",
)  # fmt: skip
UNLISTED = "STORE__DATABASE_URL"  # always that of DATABASE_URL
WHO = {
    "TENANT": "those who run several tenants without keys",
    "PROMPTS_DIR": "those who write prompts",
    "CALIBRATION": "those who use another reranker",
    "STORE": "those who run a Qdrant server",
    "STORE__KIND": "those who test, or try something out",
    "STORE__PATH": "those who keep the database apart from other data",
    "STORE__MIN_FREE_MB": "those who run a machine with a small disk",
    "ENCODER": "those who use another encoder",
    "ENCODER__BATCH_SIZE": "those who have much or little memory, or a GPU",
    "PARSER": "those who have trained or added a parser",
    "MODELS": "those who use several language models",
    "LLM": "those who run a model server",
    "RERANKER": "those who use another reranker",
    "NLI": "those who check sentences by an NLI model",
    "READING": "those who have very long or difficult documents",
    "READING__CHUNK_TOKENS": "those who measure with their own questions",
    "TREES": "those who repeat the papers' experiments",
    "API": "those who serve others",
    "API__QUOTA__QUESTIONS": "those whose tenants share a slow language model",
    "API__QUOTA__WAITING": "those whose clients send many questions at once, or who have little memory",
    "...": "those who run a model server",
}
"""The start of a setting's name -> who needs it; the longest start counts."""
SHARED = EndpointSettings.model_fields
PREFIX = "DISCO_RAG_"


def page() -> str:
    """The page: everyday settings first; what all model servers have in common comes once."""
    own = [(PREFIX + name.upper(), field) for name, field in Settings.model_fields.items()]
    sections = {name: field.annotation for name, field in own if is_section(field)}
    plain = [(name, field) for name, field in own if not is_section(field)]
    shared = [(f"...__{name.upper()}", field) for name, field in SHARED.items() if name != "base_url"]
    by_section = {name: list(rows(name, section)) for name, section in sections.items()}
    every = dict([*plain, *(row for listed in by_section.values() for row in listed)])
    tables = [HEAD, table((PREFIX + name, every[PREFIX + name]) for name in EVERYDAY), ADVANCED, advanced(plain)]
    for name, section in sections.items():
        tables.append(f"### {name}\n\n{summary(section)}\n\n{advanced(by_section[name])}")
    tables.append(f"### Every model server\n\nThe same for ENCODER, LLM and RERANKER.\n\n{advanced(shared)}")
    return "\n".join(tables)


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


def table(settings: Iterable[tuple[str, FieldInfo]]) -> str:
    """One row for each setting."""
    lines = ["| setting | default | meaning |", "| -- | -- | -- |"]
    lines += [f"| `{name}` | {default_of(field)} | {escaped(field.description or '')} |" for name, field in settings]
    return "\n".join(lines) + "\n"


def advanced(settings: Iterable[tuple[str, FieldInfo]]) -> str:
    """The same with a column that says who needs it, without everyday settings."""
    lines = ["| setting | default | meaning | who needs it |", "| -- | -- | -- | -- |"]
    for name, field in settings:
        own = name.removeprefix(PREFIX)
        if own not in (*EVERYDAY, UNLISTED):
            who = WHO[max((start for start in WHO if own.startswith(start)), key=len)]
            lines.append(f"| `{name}` | {default_of(field)} | {escaped(field.description or '')} | {who} |")
    return "\n".join(lines) + "\n"


def default_of(field: FieldInfo) -> str:
    """The default as a cell; empty if there is none to show."""
    return "" if field.default_factory or field.default in (None, "", (), {}) else f"`{field.default}`"


def escaped(text: str) -> str:
    """The text as a cell of a table in Markdown."""
    return text.replace("\\", "\\\\").replace("<", "\\<").replace("|", "&#124;")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
