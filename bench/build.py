"""What retrieval trees cost to make: seconds, memory and language-model tokens of every builder by length of document.

Usage: ``python -m bench.build [--sizes 1000 ...] [--builders clusters ...] [--plot] [--out FILE]``; every timing is a
process of its own. Sizes are the encoder's tokens, of papers put one after another.

Source: RAPTOR figures 5 and 6 (seconds and tokens by length of document); RDR² section 3.2 (document structure trees).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from bench.build_process import WORDS, Timing
from discorag.trees.registry import RETRIEVERS
from discorag.types.errors import ConfigError, InvariantError

OUT = Path("bench/results/build.json")
SIZES = (1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000)
FITTED = 10_000
"""Sizes from here on count for the exponent: below, what every tree costs whatever its length weighs too much."""
RDR2_DOCUMENTS_PER_S = 600
"""Document structure trees a second on one core (RDR²)."""
BUILDERS: tuple[str, ...] = tuple(dict.fromkeys(r.builder for r in RETRIEVERS.values()))


def process(job: str, *arguments: object) -> Any:
    """What `bench.build_process` says of a job. Raises `InvariantError` where it fails."""
    command = [sys.executable, "-m", "bench.build_process", job, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvariantError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def exponent(seconds: Mapping[int, float]) -> float | None:
    """The slope of log seconds over log tokens, least squares over the sizes from `FITTED` up; None below two."""
    sizes = sorted(n for n in seconds if n >= FITTED)
    if len(sizes) < 2:
        return None
    slope, _ = np.polyfit(np.log(sizes), np.log([seconds[n] for n in sizes]), 1)
    return round(float(slope), 3)


def row(builder: str, sizes: Sequence[int], console: Console) -> dict[str, Any]:
    """All figures of one builder; the peak of memory is the largest size's."""
    found: dict[int, Timing] = {}
    for n in sizes:
        found[n] = Timing.model_validate(process("timed", builder, n, "tokens"))
        console.print(f"{builder}, {n:,} tokens: {found[n].nodes:,} nodes in {found[n].seconds:.1f} s")
    seconds = {n: round(t.seconds, 3) for n, t in found.items()}
    at_words = Timing.model_validate(process("timed", builder, WORDS, "words"))
    return {
        "exponent": exponent(seconds),
        f"seconds_{WORDS}_words": round(at_words.seconds, 3),
        "peak_mb": round(max(t.peak_mb for t in found.values())),
        "seconds": seconds,
        "nodes": {n: t.nodes for n, t in found.items()},
        "llm_tokens": {int(n): count for n, count in process("tokens", builder, *sizes).items()},
    }


def measured(builders: Sequence[str], sizes: Sequence[int], console: Console) -> dict[str, dict[str, Any]]:
    """The result file: figures by builder; `headings` also says how many documents a second it structures."""
    rows = {builder: row(builder, sizes, console) for builder in builders}
    if "headings" in rows:
        speed = {"documents_per_s": round(process("structured")), "documents_per_s_rdr2": RDR2_DOCUMENTS_PER_S}
        rows["headings"] |= speed
    return rows


def show(rows: Mapping[str, Mapping[str, Any]], console: Console) -> None:
    """The table for people."""
    sizes = next(iter(rows.values()))["seconds"]
    table = Table("builder", title=f"Seconds by tokens; exponent from {FITTED:,} tokens; tokens of the language model")
    for name in (*(f"{n:,}" for n in sizes), "exponent", f"{WORDS:,} words", "peak MB", "LLM tokens, largest"):
        table.add_column(name, justify="right")
    for builder, figures in rows.items():
        seconds = (f"{s:.2f}" for s in figures["seconds"].values())
        slope = "" if figures["exponent"] is None else f"{figures['exponent']:.2f}"
        rest = (f"{figures[f'seconds_{WORDS}_words']:.2f}", f"{figures['peak_mb']:,}")
        table.add_row(builder, *seconds, slope, *rest, f"{list(figures['llm_tokens'].values())[-1]:,}")
    console.print(table)
    if "headings" in rows:
        speed = f"{rows['headings']['documents_per_s']} documents/s on one core; RDR²: {RDR2_DOCUMENTS_PER_S}."
        console.print(f"Document structure trees of {WORDS:,} words: {speed}")


def plot(rows: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Seconds and language-model tokens over the document's tokens, as in RAPTOR figures 5 and 6; a PNG file."""
    figure: Any = import_module("matplotlib.figure").Figure(figsize=(11, 4.5), layout="constrained")
    for axes, name, label in zip(figure.subplots(1, 2), ("seconds", "llm_tokens"), ("seconds", "tokens"), strict=True):
        for builder, figures in rows.items():
            points = [(n, value) for n, value in figures[name].items() if value]
            if points:
                axes.loglog(*zip(*points, strict=True), marker="o", markersize=3, label=builder)
        axes.set(xlabel="tokens of the document", ylabel=label)
    figure.axes[0].legend(fontsize="small")
    figure.savefig(path)


def chosen(names: Sequence[str]) -> list[str]:
    """The builders of these names, all if there are none. Raises `ConfigError` for a name that none has."""
    if unknown := [n for n in names if n not in BUILDERS]:
        raise ConfigError(f"There is no builder {unknown[0]!r}.", hint=f"There are {', '.join(BUILDERS)}.")
    return [b for b in BUILDERS if not names or b in names]


def main(
    sizes: Annotated[list[int] | None, typer.Option(help="Tokens of a document; may be given several times.")] = None,
    builders: Annotated[list[str] | None, typer.Option(help="Builders; all if not given.")] = None,
    draw: Annotated[bool, typer.Option("--plot", help="Draw the figure beside the result file, too.")] = False,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    console = Console()
    rows = measured(chosen(builders or ()), sorted(sizes or SIZES), console)
    show(rows, console)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    if draw:
        plot(rows, out.with_suffix(".png"))
    console.print(f"Written to {out}.")


if __name__ == "__main__":
    typer.run(main)
