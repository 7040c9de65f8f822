"""Train the parser: ``python -m training.parser.train``, or ``make train-parser``.

Reads the texts that shipped weights may be trained on, trains, measures on GUM's development part, writes the
graphs and what they were made of. Resumes after any epoch. First the heads learn over the bare encoder, then the
encoder's updates with them, on windows cut at other places each time, both at constant rates. What is measured and kept
is the running mean of the weights.

Sources: LoRA (Hu et al. 2022); the mean of weights, Polyak and Juditsky 1992.
"""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import random
import shutil
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import typer
from rich.console import Console
from rich.progress import track
from torch import Tensor

from discorag.discourse.parse.trained.network import PACKAGED_FOLDER, Network
from discorag.discourse.parse.trained.pieces import Pieces, layout_of
from discorag.models.hub import local_model
from discorag.models.packaged import MINILM, file_sha256, packaged_folder
from training.parser import export
from training.parser.calibration import fit_confidence
from training.parser.gum import SHARED_GENRES, GumDocument, load_gum
from training.parser.losses import loss
from training.parser.model import Model
from training.parser.record import RECORD, Record, Source, sources
from training.parser.score import score
from training.parser.silver import load_silver

_DOCUMENTS = 2
_MEAN = 0.99
"""Share of the running mean that stays at each step."""
_MEASURED = 2
"""Epochs from one measurement to the next."""


@dataclass(frozen=True)
class Recipe:
    """How long and how fast the parser learns.

    Args:
        warm: Epochs of the heads alone, over the bare encoder.
        epochs: Of all together, after that.
        adapter_rate: Learning rate of the encoder's updates.
        head_rate: Learning rate of the heads.
    """

    warm: int = 8
    epochs: int = 10
    adapter_rate: float = 7e-4
    head_rate: float = 1e-3


@dataclass
class Run:
    """A training run that can be stopped after any epoch; ``mean`` is that of the weights so far."""

    model: Model
    optimiser: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LRScheduler
    states: States
    mean: dict[str, Tensor]
    epoch: int = 0
    seconds: float = 0.0
    scores: list[dict[str, float]] = field(default_factory=list[dict[str, float]])

    @property
    def best(self) -> dict[str, float]:
        """The scores of the epoch that was best over gold and own EDUs together."""
        return max(self.scores, key=lambda s: s["gold"] + s["end_to_end"])

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        state: dict[str, Any] = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"], strict=False)
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.load_state_dict(state["schedule"])
        self.mean, self.epoch = state["mean"], state["epoch"]
        self.seconds, self.scores = state["seconds"], state["scores"]

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        state = {"model": self.model.trained(), "optimiser": self.optimiser.state_dict(), "mean": self.mean}
        state |= {"schedule": self.schedule.state_dict(), "epoch": self.epoch}
        state |= {"seconds": self.seconds, "scores": self.scores}
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)

    def step(self, wrong: Tensor) -> None:
        """Learn from a loss."""
        self.optimiser.zero_grad()
        wrong.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        self.optimiser.step()
        self.schedule.step()
        stays = min(_MEAN, (self.schedule.last_epoch + 1) / (self.schedule.last_epoch + 10))
        for name, value in self.model.trained().items():
            self.mean[name].lerp_(value, 1 - stays)

    @contextmanager
    def averaged(self) -> Generator[Model]:
        """The model with the mean of its weights for as long as this lasts."""
        last = {name: value.clone() for name, value in self.model.trained().items()}
        self.model.load_state_dict(self.mean, strict=False)
        try:
            yield self.model
        finally:
            self.model.load_state_dict(last, strict=False)


def prepare_run(encoder: Path, recipe: Recipe, steps: int) -> Run:
    """A fresh model over the encoder in this folder, with its optimiser; ``steps`` make an epoch."""
    model = Model(encoder)
    groups = [
        {"params": [p for p in model.backbone.parameters() if p.requires_grad], "lr": recipe.adapter_rate},
        {"params": list(model.network.parameters()), "lr": recipe.head_rate},
    ]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
    rates = Rates(recipe.warm * steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, [rates.adapters, rates.heads])
    return Run(model, optimiser, schedule, States(model), {n: v.clone() for n, v in model.trained().items()})


@dataclass(frozen=True)
class Rates:
    """Shares of the learning rates by step.

    Args:
        warm: Steps for the heads alone.
    """

    warm: int
    _WARM_UP = 50

    def heads(self, step: int) -> float:
        """Up, down to a third while alone, and so it stays."""
        return min(1.0, (step + 1) / self._WARM_UP) * (1 - 2 / 3 * min(1.0, step / max(self.warm, 1)))

    def adapters(self, step: int) -> float:
        """Up once the heads are warm, and so it stays."""
        return min(1.0, max(0.0, (step - self.warm + 1) / self._WARM_UP))


class States:
    """The encoder's states of documents, computed once: while it is not trained they stay the same."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[str, Tensor] = {}

    def of(self, document: GumDocument) -> tuple[Pieces, Tensor]:
        """A document's pieces and states."""
        pieces = self._model.pieces(layout_of(document.text))
        if document.id not in self._known:
            with torch.no_grad():
                self._known[document.id] = self._model.states([pieces]).bfloat16()
        return pieces, self._known[document.id].float()

    def forget(self) -> None:
        """They are not needed any more."""
        self._known.clear()


def epoch(
    run: Run, documents: Sequence[GumDocument], seed: int, *, tuned: bool, silver: Sequence[GumDocument] = ()
) -> float:
    """One pass over the documents, and at most as many of ``silver``; returns the mean loss.

    If ``tuned`` the encoder is trained too.
    """
    chance, start = random.Random(f"{seed}-{run.epoch}"), time.perf_counter()
    drawn = [*documents, *chance.sample(silver, min(len(silver), len(documents)))]
    order = chance.sample(drawn, len(drawn))
    torch.manual_seed(seed + run.epoch)
    run.model.train()
    if tuned:
        run.states.forget()
    total = 0.0
    batches = [order[i : i + _DOCUMENTS] for i in range(0, len(order), _DOCUMENTS)]
    for batch in track(batches, description=f"epoch {run.epoch + 1}"):
        seen = _encode(run.model, batch, chance) if tuned else [run.states.of(d) for d in batch]
        known = [(d, pieces) for d, (pieces, _) in zip(batch, seen, strict=True)]
        wrong = loss(run.model, known, [states for _, states in seen], chance)
        run.step(wrong)
        total += wrong.item()
    run.epoch += 1
    run.seconds += time.perf_counter() - start
    return total / len(batches)


def _encode(model: Model, batch: Sequence[GumDocument], chance: random.Random) -> list[tuple[Pieces, Tensor]]:
    """With windows cut at other places each time."""
    first = [chance.randrange(32, model.shape.window - 2) for _ in batch]
    pieces = [model.pieces(layout_of(d.text), first=f) for d, f in zip(batch, first, strict=True)]
    states = model.states(pieces)
    return list(zip(pieces, states.split([len(p.ids) for p in pieces]), strict=True))


def main(
    encoder: Annotated[str, typer.Option(help="The packaged one; another's folder, or name on the hub.")] = MINILM.name,
    data: Annotated[Path, typer.Option(help="The folder that holds gum/ and lay_summaries/.")] = Path("../shared/data"),
    genres: Annotated[Literal["shared", "all"], typer.Option(help="all to measure what free texts cost.")] = "shared",
    share: Annotated[float, typer.Option(min=0.01, max=1, help="Of the training documents, drawn by the seed.")] = 1.0,
    teacher: Annotated[Path | None, typer.Option(help="A parser whose trees of free texts are learned from.")] = None,
    work: Annotated[Path, typer.Option(help="Checkpoints.")] = Path(".disco-rag/train"),
    out: Annotated[Path, typer.Option(help="Where graphs and record go.")] = PACKAGED_FOLDER,
    seed: int = 1,
) -> None:
    """Train, measure on the development part, keep the best, write it with what it was made of."""
    console, recipe = Console(), Recipe()
    free = SHARED_GENRES if genres == "shared" else None
    documents = load_gum(data / "gum", "train", genres=free)
    train = random.Random(seed).sample(documents, round(share * len(documents))) if share < 1 else documents
    dev = load_gum(data / "gum", "dev")
    torch.manual_seed(seed)
    silver = load_silver(data / "lay_summaries", Network(teacher)) if teacher else []
    folder = packaged_folder(encoder) if encoder == MINILM.name else local_model(encoder)
    run = prepare_run(folder, recipe, -(-(len(train) + min(len(silver), len(train))) // _DOCUMENTS))
    parts = (Path(encoder).name, genres, *["silver"] * bool(silver), *[str(share)] * (share < 1), str(seed))
    trials = work / "-".join(parts)
    trials.mkdir(parents=True, exist_ok=True)
    if (trials / "last.pt").exists():
        run.load(trials / "last.pt")
        console.print(f"Resumed after epoch {run.epoch}.")
    while run.epoch < recipe.warm + recipe.epochs:
        mean_loss = epoch(run, train, seed, tuned=run.epoch >= recipe.warm, silver=silver)
        console.print(f"epoch {run.epoch}: loss {mean_loss:.3f}, {run.seconds / 60:.0f} minutes")
        if run.epoch >= recipe.warm and run.epoch % _MEASURED == 0:
            _keep_best(run, dev, trials, encoder, console)
        run.save(trials / "last.pt")
    shutil.copytree(trials / "best", out, dirs_exist_ok=True)
    best = Network(out)
    export.describe(out, best.description.model_copy(update={"confidence": fit_confidence(best, dev)}))
    record = _record(run, best.description.name, seed, sources([*train, *silver]), out)
    (out / RECORD).write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
    console.print(record.card(), soft_wrap=True)


def _keep_best(run: Run, documents: Sequence[GumDocument], trials: Path, encoder: str, console: Console) -> None:
    """Measure on the development part; keep the graphs if none were better, by Full of gold and own EDUs."""
    with run.averaged() as model:
        export.write(model.eval(), trials / "last", encoder)
    found = score(Network(trials / "last"), documents, cases=("gold", "end_to_end", "sentence"))
    full = {case: round(scores.full, 2) for case, scores in found.items()}
    run.scores.append({"epoch": run.epoch, **full, "seg": round(found["end_to_end"].seg or 0.0, 2)})
    console.print(run.scores[-1], soft_wrap=True)
    if run.scores[-1] is run.best:
        shutil.copytree(trials / "last", trials / "best", dirs_exist_ok=True)


def _record(run: Run, name: str, seed: int, documents: list[Source], folder: Path) -> Record:
    return Record(
        parser=name,
        seed=seed,
        hours=round(run.seconds / 3600, 2),
        epoch=int(run.best["epoch"]),
        scores=run.scores,
        graphs_sha256={f.stem: str(file_sha256(f)) for f in sorted(folder.glob("*.onnx"))},
        graphs_mb=round(sum(f.stat().st_size for f in folder.glob("*.onnx")) / 1e6, 2),
        documents=documents,
    )


if __name__ == "__main__":
    typer.run(main)
