"""Plots as inline SVG that takes its colours from the page's style sheet, so that it follows light and dark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from discorag.extras import extra
from eval.reporting.stats import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOUND = "found"
STAGES = ("missing", "retrieve", "plan", "generate", "verify")

_INK, _MUTED, _LINE, _ACCENT, _PAPER = "#010101", "#020202", "#030303", "#040404", "#050505"
_SEGMENTS = {FOUND: "#060600", **{stage: f"#06060{i}" for i, stage in enumerate(STAGES, start=1)}}
_VARIABLES = {
    _INK: "var(--ink)",
    _MUTED: "var(--muted)",
    _LINE: "var(--line)",
    _ACCENT: "var(--accent)",
    _PAPER: "var(--paper)",
    **{colour: f"var(--{stage})" for stage, colour in _SEGMENTS.items()},
}
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "disco-rag",
    "text.parse_math": False,
    "font.size": 9,
    "font.family": "sans-serif",
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _MUTED,
    "xtick.color": _LINE,
    "xtick.labelcolor": _MUTED,
    "ytick.labelcolor": _INK,
    "ytick.left": False,
    "grid.color": _LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
}
_WIDTH = 4.4
_NAME = 26


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A system's mean score with its interval, in score points."""

    system: str
    mean: float
    interval: Interval | None
    baseline: bool


def interval_plot(metric: str, estimates: Sequence[Estimate]) -> Markup:
    """One dot and 95 % interval per system; a rule at the baseline."""
    with extra("eval"):
        import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        figure, axes = _axes([e.system for e in estimates])
        for row, e in enumerate(estimates):
            colour = _MUTED if e.baseline else _ACCENT
            if e.baseline:
                axes.axvline(e.mean, color=_MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
            if e.interval:
                axes.hlines(row, e.interval.low, e.interval.high, color=colour, linewidth=2)
            axes.plot([e.mean], [row], "o", color=colour, markersize=6)
        axes.margins(x=0.06)
        return _svg(figure, f"{metric}: mean and 95 % interval of each system; the table has the numbers")


def lost_plot(shares: Mapping[str, Mapping[str, float]]) -> Markup:
    """Stacked bar per system. ``shares``: system -> ``found`` and stages -> per cent of the gold pieces."""
    with extra("eval"):
        import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        figure, axes = _axes(list(shares))
        for row, parts in enumerate(shares.values()):
            left = 0.0
            for stage, colour in _SEGMENTS.items():
                width = parts.get(stage, 0.0)
                axes.barh(row, width, left=left, color=colour, edgecolor=_PAPER, linewidth=1, height=0.62)
                left += width
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of gold evidence")
        return _svg(figure, "Share of gold evidence found, or lost at each stage, by system; the table has the numbers")


def _axes(systems: Sequence[str]) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, 0.55 + 0.34 * len(systems)), layout="constrained")
    axes = figure.add_subplot()
    names = [s if len(s) <= _NAME else f"{s[: _NAME - 1]}…" for s in systems]
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", linewidth=0.6)
    return figure, axes


def _svg(figure: Figure, label: str) -> Markup:
    """Without prolog, size, fonts and ids that nothing refers to, so that it stands in a page beside others."""
    out = StringIO()
    nothing: dict[str, str | None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(out, format="svg", transparent=True, metadata=nothing)
    svg = out.getvalue()
    box = re.search(r'viewBox="[^"]*"', svg)
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    body = re.sub(r"<style.*?</style>| font-family: [^;]*;", "", body, flags=re.DOTALL)
    body = re.sub(r' id="(?![mp][0-9a-f]{10}")[^"]*"', "", body).replace("xlink:href", "href")
    body = re.sub("#0[1-6]0[1-6]0[0-6]", lambda m: _VARIABLES.get(m[0], m[0]), body)
    return Markup(f'<svg role="img" aria-label="{escape(label)}" {box[0] if box else ""}>{body}')
