"""The result file, and its table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict
from rich.table import Table

from bench.answers.scores import Outcome


class Result(BaseModel):
    """What is written.

    Args:
        commit: The last commit that changed the product, in full; with ``+`` and a digest of uncommitted changes.
        figures: Key -> figures. Intervals are 95 % bootstraps over questions.
    """

    model_config = ConfigDict(frozen=True)

    commit: str
    figures: dict[str, Any]


def read(path: Path) -> Result | None:
    """A result file; None if there is none, or one of another format."""
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return Result.model_validate(found) if "commit" in found else None


def merge(old: Result | None, new: Result) -> Result:
    """The new result with the keys that only the old one has, if both are of the same commit."""
    if old is None or old.commit != new.commit:
        return new
    return Result(commit=new.commit, figures=old.figures | new.figures)


def write(path: Path, result: Result) -> None:
    """One line for each estimate."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_json(result.model_dump(mode="json")) + "\n", "utf-8")


def write_outcomes(path: Path, runs: Mapping[str, Mapping[str, Outcome]]) -> None:
    """Every question's outcome on a line, by run and id: not committed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        json.dumps({"run": run, "id": name} | o.model_dump(mode="json", exclude_defaults=True))
        for run, outcomes in runs.items()
        for name, o in outcomes.items()
    )
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _json(value: Any, indent: str = "") -> str:
    """JSON with an object of plain values on one line."""
    if not isinstance(value, dict) or not any(isinstance(v, dict) for v in cast("dict[str, Any]", value).values()):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    items = (f"{inner}{json.dumps(k)}: {_json(v, inner)}" for k, v in cast("dict[str, Any]", value).items())
    return "{\n" + ",\n".join(items) + f"\n{indent}}}"


def table(result: Result) -> Table:
    """A row for each figure."""
    shown = Table("figure", "value", "95 %")
    for name, value in flat(result.figures).items():
        if isinstance(value, Mapping):
            found = cast("Mapping[str, float]", value)
            shown.add_row(name, f"{found['value']:g}", f"{found['low']:g} to {found['high']:g}")
        else:
            shown.add_row(name, "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value), "")
    return shown


def flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"a": {"b": 1}}`` as ``{"a.b": 1}``; an estimate stays together."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        inner = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None
        if inner is None or "low" in inner:
            found[f"{prefix}{name}"] = value
        else:
            found |= flat(inner, f"{prefix}{name}.")
    return found
