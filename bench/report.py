"""The result files, and their tables."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict
from rich.table import Table

from discorag.schema.values import digest

PACKAGES = ("discorag", "nodes", "graphs", "interfaces", "prompts")


class Result(BaseModel):
    """What is written.

    Args:
        commit: The last commit that changed the product, in full; with ``+`` and a digest of uncommitted changes.
        figures: Key -> figures. Intervals are 95 % bootstraps.
    """

    model_config = ConfigDict(frozen=True)

    commit: str
    figures: dict[str, Any]


def package_version() -> str:
    """The last commit that changed the product, with a digest of uncommitted changes if there are any."""
    commit = _git("log", "-1", "--format=%H", "--", *PACKAGES).strip()
    changed = _git("diff", "HEAD", "--", *PACKAGES)
    return f"{commit}+{digest(changed)[:6]}" if changed else commit


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def write(path: Path, figures: Mapping[str, Any]) -> Result:
    """Write the figures, one line for each estimate; the file's other keys stay if they are of the same commit.

    Returns:
        What is in the file now.
    """
    commit = package_version()
    old: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known: dict[str, Any] = old["figures"] if old.get("commit") == commit else {}
    result = Result(commit=commit, figures={**known, **figures})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_json(result.model_dump(mode="json")) + "\n", "utf-8")
    return result


def to_json(value: Any, indent: str = "") -> str:
    """JSON with an object of plain values on one line."""
    if not isinstance(value, dict) or not any(isinstance(v, dict) for v in cast("dict[str, Any]", value).values()):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    items = (f"{inner}{json.dumps(k)}: {to_json(v, inner)}" for k, v in cast("dict[str, Any]", value).items())
    return "{\n" + ",\n".join(items) + f"\n{indent}}}"


def table(figures: Mapping[str, Any]) -> Table:
    """A row for each figure."""
    shown = Table("figure", "value", "95 %")
    for name, value in _flat(figures).items():
        if isinstance(value, dict):
            found = cast("dict[str, float]", value)
            shown.add_row(name, f"{found['value']}", f"{found['low']} to {found['high']}")
        else:
            shown.add_row(name, str(value), "")
    return shown


def _flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"a": {"b": 1}}`` as ``{"a.b": 1}``; an estimate stays together."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, dict) and "low" not in value:
            found |= _flat(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
