"""The figures of each key, gains over an earlier result, and the table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict
from rich.table import Table

from bench.answers.scores import FIRST, Outcome, Outcomes, refusal, share, words
from bench.answers.sets import KEYS
from eval.reporting.stats import paired

SEED = 0
Runs = Mapping[str, Outcomes]
TARGETS: Mapping[str, str] = {
    "clapnq.auc": ">= 0.90",
    "clapnq.refused_right_at_10": ">= 0.65",
    "clapnq.refused_right": ">= 0.65",
    "clapnq.refused_wrong": "<= 0.10",
    "removed.refused_right": ">= 0.80",
    "removed.refused_wrong": "<= 0.10",
    "removed.refused_right_at_10": ">= 0.80",
    "first_sentence.fairytaleqa": "+15 points",
    "first_sentence.hotpotqa": "+15 points",
    "asqa_str_em.full": ">= 38",
    "asqa_str_em.low": "> 0",
    "lint.fragments": "<= 5",
    "lint.markup": "<= 5",
    "lint.dangling": "<= 5",
    "lint.connectives": "<= 5",
    "cpu_floors.added": "<= 0.5",
}
"""What issue 18 asks for."""


class Gain(BaseModel):
    """A difference to the earlier result over the same questions, with its 95 % interval (paired bootstrap)."""

    model_config = ConfigDict(frozen=True)

    n: int
    gain: float
    low: float
    high: float


class Result(BaseModel):
    """What is written.

    Args:
        package: Version of the code that answered.
        figures: Key -> figures.
        gains: Name of a figure -> its gain over the result that was given as ``before``.
        questions: Run -> question id -> outcome.
    """

    model_config = ConfigDict(frozen=True)

    package: str
    figures: dict[str, dict[str, Any]]
    gains: dict[str, Gain] = {}
    questions: dict[str, dict[str, Outcome]]


def figures(runs: Runs) -> dict[str, dict[str, Any]]:
    """The figures of all keys whose runs are there, but for ``lint`` and ``cpu_floors``."""
    made = {"clapnq": _clapnq, "removed": _removed, "first_sentence": _first, "asqa_str_em": _asqa}
    return {key: make(runs) for key, make in made.items() if all(runs.get(name) for name in KEYS[key])}


def _clapnq(runs: Runs) -> dict[str, Any]:
    return refusal(runs["clapnq/own"].values())


def _removed(runs: Runs) -> dict[str, Any]:
    tales = [*runs["fairytaleqa/with"].values(), *runs["fairytaleqa/without"].values()]
    paragraphs = [*runs["hotpotqa/own"].values(), *runs["hotpotqa/without"].values()]
    both = refusal([*tales, *paragraphs])
    return both | {"fairytaleqa": refusal(tales), "hotpotqa": refusal(paragraphs)}


def _first(runs: Runs) -> dict[str, Any]:
    return {name.split("/")[0]: round(100 * share(bool(o.first) for o in runs[name].values()), 2) for name in FIRST}


def _asqa(runs: Runs) -> dict[str, Any]:
    full, standard = runs["asqa/full"], runs["asqa/standard"]
    gap = gain(_scores(full, "str_em"), _scores(standard, "str_em"))
    return {
        "full": round(share_of(full), 2),
        "standard": round(share_of(standard), 2),
        "difference": gap.gain,
        "low": gap.low,
        "high": gap.high,
        "words": words(full.values()),
        "words_standard": words(standard.values()),
        "refused": sum(o.refused for o in full.values()),
    }


def share_of(outcomes: Outcomes) -> float:
    """Mean STR-EM."""
    scores = _scores(outcomes, "str_em").values()
    return sum(scores) / len(scores)


def _scores(outcomes: Outcomes, field: str) -> dict[str, float]:
    found = {name: getattr(o, field) for name, o in outcomes.items()}
    return {name: 100.0 * v if isinstance(v, bool) else float(v) for name, v in found.items() if v is not None}


def gain(now: Mapping[str, float], before: Mapping[str, float]) -> Gain:
    """The mean difference over the questions that both have."""
    shared = sorted(now.keys() & before.keys())
    found = paired([now[name] for name in shared], [before[name] for name in shared], seed=SEED)
    interval = found.interval
    low, high = (interval.low, interval.high) if interval else (found.difference, found.difference)
    return Gain(n=found.n, gain=round(found.difference, 2), low=round(low, 2), high=round(high, 2))


def gains(now: Result, before: Result) -> dict[str, Gain]:
    """Gains in first sentences, STR-EM and refusal, question by question, in points."""
    pairs = {f"first_sentence.{name.split('/')[0]}": (name, "first") for name in FIRST}
    pairs |= {"asqa_str_em.full": ("asqa/full", "str_em"), "asqa_str_em.standard": ("asqa/standard", "str_em")}
    both = now.questions.keys() & before.questions.keys()
    return {
        figure: gain(_scores(now.questions[run], field), _scores(before.questions[run], field))
        for figure, (run, field) in pairs.items()
        if run in both and now.questions[run].keys() & before.questions[run].keys()
    }


def against(now: Result, before: Result) -> Result:
    """The result with its gains, and with the processor time that was added."""
    figures = dict(now.figures)
    if "cpu_floors" in figures and "cpu_floors" in before.figures:
        added = figures["cpu_floors"]["floors"] - before.figures["cpu_floors"]["floors"]
        figures["cpu_floors"] = figures["cpu_floors"] | {"added": round(added, 3)}
    return now.model_copy(update={"figures": figures, "gains": gains(now, before)})


def read(path: Path) -> Result | None:
    """A result file; None if there is none."""
    return Result.model_validate_json(path.read_text("utf-8")) if path.exists() else None


def write(path: Path, result: Result) -> None:
    """Figures on lines of their own, every question on one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = result.model_dump(mode="json", exclude={"questions"})
    lines = json.dumps(head, indent=1, ensure_ascii=False)[:-2] + ',\n "questions": {'
    made = (
        f'\n  "{run}": {{\n'
        + ",\n".join(f"   {json.dumps(name)}: {o.model_dump_json(exclude_defaults=True)}" for name, o in found.items())
        + "\n  }"
        for run, found in result.questions.items()
    )
    path.write_text(lines + ",".join(made) + "\n }\n}\n", "utf-8")


def table(now: Result, before: Result | None) -> Table:
    """Every figure with its target and, where there is one, the earlier one and the gain."""
    shown = Table("figure", "now", "target", "before", "gain [95 %]")
    old = flat(before.figures) if before else {}
    for name, value in flat(now.figures).items():
        gained = now.gains.get(name)
        told = f"{gained.gain:+.1f} [{gained.low:+.1f}, {gained.high:+.1f}]" if gained else ""
        shown.add_row(name, _told(value), TARGETS.get(name, ""), _told(old[name]) if name in old else "", told)
    return shown


def flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """``{"a": {"b": 1}}`` as ``{"a.b": 1}``."""
    found: dict[str, Any] = {}
    for name, value in figures.items():
        inner = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None
        found |= {f"{prefix}{name}": value} if inner is None else flat(inner, f"{prefix}{name}.")
    return found


def _told(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
