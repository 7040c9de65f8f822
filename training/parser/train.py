"""Train the parser: ``python -m training.parser.train``, or ``make train-parser``.

Reads the texts that shipped weights may be trained on, trains, measures on GUM's development part, writes the graphs
and what they were made of. Resumes after any epoch. First the heads learn over the bare encoder, then the encoder's
updates with them, at constant rates and on windows cut at other places each time. What is measured and kept is the
running mean of the weights.

Sources: LoRA (Hu et al. 2022); the mean of weights, Polyak and Juditsky 1992.
"""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import track
from torch import Tensor

from discorag.discourse.parse.trained.network import PACKAGED_FOLDER, Network
from discorag.discourse.parse.trained.pieces import layout_of
from discorag.models.hub import local_model
from discorag.models.packaged import MINILM, file_sha256, packaged_folder
from discorag.schema.values import digest
from training.parser import export
from training.parser.gum import LICENCES, GumDocument, load_gum
from training.parser.losses import loss
from training.parser.model import WINDOW, Model
from training.parser.score import count_cases, fit_confidence, scores

_DOCUMENTS = 2
"""Documents of a step."""
_WARM_UP = 50
"""Steps in which the learning rate rises."""
_MEAN = 0.99
"""Share of the running mean that stays at each step."""
_MEASURED = 2
"""Epochs from one measurement to the next."""


@dataclass(frozen=True)
class Recipe:
    """How long and how fast the parser learns.

    Args:
        warm: Epochs of the heads alone, over the bare encoder.
        epochs: Epochs of all together, after that.
        adapter_rate: Learning rate of the encoder's updates.
        head_rate: Learning rate of the heads; it sinks to a third of this while they learn alone.
    """

    warm: int = 8
    epochs: int = 10
    adapter_rate: float = 7e-4
    head_rate: float = 1e-3


@dataclass
class Run:
    """A training run that can be stopped after any epoch; ``mean`` has the running mean of the model's weights."""

    model: Model
    mean: Model
    optimiser: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LRScheduler
    epoch: int = 0
    seconds: float = 0.0
    scores: list[dict[str, float]] = field(default_factory=list[dict[str, float]])

    @property
    def best(self) -> dict[str, float]:
        """The scores of the epoch that was best over gold and own EDUs together."""
        return max(self.scores, key=lambda s: s["gold"] + s["end_to_end"])

    def load(self, path: Path) -> None:
        """Resume from a checkpoint."""
        state: dict[str, Any] = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"], strict=False)
        self.mean.load_state_dict(state["mean"], strict=False)
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.load_state_dict(state["schedule"])
        self.epoch, self.seconds, self.scores = state["epoch"], state["seconds"], state["scores"]

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        state = {"model": self.model.trained(), "mean": self.mean.trained(), "optimiser": self.optimiser.state_dict()}
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
        mean = self.mean.trained()
        for name, value in self.model.trained().items():
            mean[name].lerp_(value, 1 - stays)


def prepare_run(encoder: Path, recipe: Recipe, steps: int) -> Run:
    """A fresh model over the encoder in this folder, with its optimiser; ``steps`` make an epoch."""
    model, mean = Model(encoder), Model(encoder)
    mean.load_state_dict(model.state_dict())
    groups = [
        {"params": [p for p in model.encoder.parameters() if p.requires_grad], "lr": recipe.adapter_rate},
        {"params": list(model.network.parameters()), "lr": recipe.head_rate},
    ]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
    warm = recipe.warm * steps

    def adapter_share(step: int) -> float:
        return min(1.0, max(0.0, (step - warm + 1) / _WARM_UP))

    def head_share(step: int) -> float:
        return min(1.0, (step + 1) / _WARM_UP) * (1 - 2 / 3 * min(1.0, step / max(warm, 1)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, [adapter_share, head_share])
    return Run(model, mean, optimiser, schedule)


def epoch(run: Run, documents: Sequence[GumDocument], seed: int, *, tuned: bool) -> float:
    """One pass over the documents; if ``tuned`` the encoder is trained too. Returns the mean loss."""
    chance, start = random.Random(f"{seed}-{run.epoch}"), time.perf_counter()
    order = chance.sample(documents, len(documents))
    torch.manual_seed(seed + run.epoch)
    run.model.train()
    losses: list[float] = []
    batches = [order[i : i + _DOCUMENTS] for i in range(0, len(order), _DOCUMENTS)]
    for batch in track(batches, description=f"epoch {run.epoch + 1}"):
        layouts = [layout_of(d.text) for d in batch]
        pieces = [run.model.pieces(layout, first=chance.randrange(32, WINDOW - 2)) for layout in layouts]
        with torch.set_grad_enabled(tuned):
            states = run.model.states(pieces).split([len(p.ids) for p in pieces])
        wrong = loss(run.model, list(zip(batch, pieces, strict=True)), states, chance)
        run.step(wrong)
        losses.append(wrong.item())
    run.epoch += 1
    run.seconds += time.perf_counter() - start
    return sum(losses) / len(losses)


def main(
    encoder: Annotated[str, typer.Option(help="The packaged one; another's folder, or name on the hub.")] = MINILM.name,
    data: Annotated[Path, typer.Option(help="The folder that holds gum/.")] = Path("../shared/data"),
    share: Annotated[float, typer.Option(min=0.01, max=1, help="Of the training documents, drawn by the seed.")] = 1.0,
    work: Annotated[Path, typer.Option(help="Checkpoints.")] = Path(".disco-rag/train"),
    out: Annotated[Path, typer.Option(help="Where graphs and record go.")] = PACKAGED_FOLDER,
    seed: int = 1,
) -> None:
    """Train, measure on the development part, keep the best, write it with what it was made of."""
    console, recipe = Console(), Recipe()
    documents = [d for d in load_gum(data / "gum", "train") if d.genre in LICENCES]
    train = random.Random(seed).sample(documents, round(share * len(documents))) if share < 1 else documents
    dev = load_gum(data / "gum", "dev")
    torch.manual_seed(seed)
    folder = packaged_folder(encoder) if encoder == MINILM.name else local_model(encoder)
    run = prepare_run(folder, recipe, -(-len(train) // _DOCUMENTS))
    trials = work / "-".join((Path(encoder).name, *[str(share)] * (share < 1), str(seed)))
    trials.mkdir(parents=True, exist_ok=True)
    if (trials / "last.pt").exists():
        run.load(trials / "last.pt")
        console.print(f"Resumed after epoch {run.epoch}.")
    while run.epoch < recipe.warm + recipe.epochs:
        mean_loss = epoch(run, train, seed, tuned=run.epoch >= recipe.warm)
        console.print(f"epoch {run.epoch}: loss {mean_loss:.3f}, {run.seconds / 60:.0f} minutes")
        if run.epoch >= recipe.warm and run.epoch % _MEASURED == 0:
            _keep_best(run, dev, trials, encoder)
            console.print(run.scores[-1], soft_wrap=True)
        run.save(trials / "last.pt")
    shutil.copytree(trials / "best", out, dirs_exist_ok=True)
    best = Network(out)
    export.describe(out, best.description.model_copy(update={"confidence": fit_confidence(best, dev)}))
    (out / "record.json").write_text(json.dumps(_record(run, best.description.name, seed, train, out), indent=1) + "\n")
    console.print(f"Written to {out}; the best epoch: {run.best}", soft_wrap=True)


def _keep_best(run: Run, documents: Sequence[GumDocument], trials: Path, encoder: str) -> None:
    """Measure on the development part; keep the graphs if none were better, by Full of gold and own EDUs."""
    export.write(run.mean.eval(), trials / "last", encoder)
    network = Network(trials / "last")
    found = scores(count_cases(network, d) for d in documents)
    full = {case: found[case]["full"] for case in ("gold", "end_to_end", "sentence")}
    run.scores.append({"epoch": run.epoch, **full, "seg": found["end_to_end"].get("seg", 0.0)})
    if run.scores[-1] is run.best:
        shutil.copytree(trials / "last", trials / "best", dirs_exist_ok=True)


def _record(run: Run, name: str, seed: int, documents: Sequence[GumDocument], folder: Path) -> dict[str, Any]:
    """What the weights were made of: every document with its licence and the digest of its text and tree."""
    graphs = sorted(folder.glob("*.onnx"))
    return {
        "parser": name,
        "seed": seed,
        "hours": round(run.seconds / 3600, 2),
        "epoch": run.best["epoch"],
        "scores": run.scores,
        "graphs_sha256": {f.stem: file_sha256(f) for f in graphs},
        "graphs_mb": round(sum(f.stat().st_size for f in graphs) / 1e6, 2),
        "documents": [
            {"id": d.id, "licence": LICENCES[d.genre], "sha256": digest(f"{d.text}\n{d.splits}")}
            for d in sorted(documents, key=lambda d: d.id)
        ],
    }


if __name__ == "__main__":
    typer.run(main)
