"""The trained parser: quality on GUM's test part, speed, memory and growth.

Usage: ``python -m bench.parser [--split dev] [--parser FOLDER --out FILE]``; every timing is a process of its own.
"""

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bench.parser_process import SIZES, Timing
from bench.report import package_version
from discorag.discourse.parse.trained.network import PACKAGED_FOLDER, describe
from discorag.schema.errors import InvariantError
from eval.options import data_folder
from training.parser.gum import load_gum
from training.parser.score import measure, right_branching

OUT = Path("bench/results/parser.json")
THREADS = (1, 2)


def timed(cores: int) -> Timing:
    """The timing of the parser on so many cores, in a process of its own."""
    command = [sys.executable, "-m", "bench.parser_process", str(cores)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvariantError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return Timing.model_validate_json(done.stdout.splitlines()[-1])


def exponent(seconds: Mapping[int, float]) -> float:
    """The slope of log seconds over log words from the smallest text above a chunk to the largest one."""
    sizes = sorted(n for n in seconds if n >= SIZES[1])
    return math.log(seconds[sizes[-1]] / seconds[sizes[0]]) / math.log(sizes[-1] / sizes[0])


def speed() -> dict[str, Any]:
    """The parser's figures of speed; the result file's are those of one core for the chunk, two for long texts."""
    found = {n: timed(n) for n in THREADS}
    return {
        "chunk_ms": round(found[1].chunk_ms, 1),
        "words_per_s": round(5000 / found[2].seconds[5000]),
        "exponent": round(exponent(found[2].seconds), 3),
        "over_encoder_pass": round(found[1].over_encoder_pass, 2),
        "threads": {n: t.model_dump() for n, t in found.items()},
    }


def main(
    split: Annotated[str, typer.Option(help="test, or dev while the parser is worked on.")] = "test",
    parser: Annotated[Path, typer.Option(help="Folder of the parser.")] = PACKAGED_FOLDER,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    documents = load_gum(data_folder() / "gum", split)
    rows: dict[str, dict[str, Any]] = {"right-branching": {"gold": right_branching(documents)}}
    rows[describe(parser).name] = measure(parser, documents) | (speed() if parser == PACKAGED_FOLDER else {})
    found = {"commit": package_version(), "split": split, **rows}
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    Console().print_json(data=found)


if __name__ == "__main__":
    typer.run(main)
