"""Train and score the judge: ``python -m training.judge DATA HOME``. Goes on from its last epoch when run again.

Writes HOME/judge-TIER.pt and, with what it is worth on groups that nothing was fitted on, HOME/judge-TIER.json.
"""

# torch and scikit-learn are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from rich.console import Console
from rich.progress import track
from sklearn.metrics import roc_auc_score

from discorag.rst.trained.tiers import TIERS, transformer
from training.judge.model import CrossEncoder, loss_of
from training.judge.pairs import CONTRADICTED, ENTAILED, Labelled, batches, contradictions, labelled
from training.once import made_once
from training.verify.examples import examples
from training.verify.sources import Pair

RATE = 1e-3
WARM = 0.06
"""Share of the steps in which the rate rises."""


def collected(data: Path, home: Path) -> list[Labelled]:
    """Pairs with their labels, made once."""
    rows = made_once(home / "pairs.jsonl", lambda: map(asdict, labelled(examples(data), contradictions(data))))
    return [Labelled(Pair(**row["pair"]), row["label"]) for row in rows]


class Training:
    """A run that can be stopped after any epoch."""

    def __init__(self, tier: str, rank: int, epochs: int, pairs: Sequence[Labelled], file: Path) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        source = transformer(TIERS[tier])
        self.tokenizer, self.pairs, self.file, self.epochs = source.tokenizer, pairs, file, epochs
        torch.manual_seed(1)
        self.model = CrossEncoder(source, rank).to(self.device)
        self.trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(self.trained, lr=RATE, weight_decay=0.01)
        self.epoch, self.step = 0, 0

    def run(self, console: Console) -> None:
        """All epochs that are left."""
        if self.file.exists():
            self._load()
        while self.epoch < self.epochs:
            console.print(f"epoch {self.epoch + 1}: loss {self._epoch():.4f}")
            self.epoch += 1
            self._save()

    def _epoch(self) -> float:
        order = list(range(len(self.pairs)))
        random.Random(self.epoch).shuffle(order)
        made = list(batches(self.pairs, self.tokenizer, order))
        random.Random(self.epoch).shuffle(made)
        losses = [self._step(b, len(made)) for b in track(made, "Training")]
        return float(np.mean(losses))

    def _step(self, batch: Any, per_epoch: int) -> float:
        done = self.step / (per_epoch * self.epochs)
        for group in self.optimiser.param_groups:
            group["lr"] = RATE * min(done / WARM, max(0.0, (1 - done) / (1 - WARM)))
        self.model.head.train()
        loss = loss_of(self.model(on(batch, self.device)), batch.labels.to(self.device))
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimiser.step()
        self.step += 1
        return float(loss.detach())

    def _load(self) -> None:
        state = torch.load(self.file, weights_only=True)
        self.model.load_state_dict(state["model"], strict=False)
        self.optimiser.load_state_dict(state["optimiser"])
        self.epoch, self.step = state["epoch"], state["step"]

    def _save(self) -> None:
        kept = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        state = {"model": kept, "optimiser": self.optimiser.state_dict(), "epoch": self.epoch, "step": self.step}
        torch.save(state, self.file.with_suffix(".part"))
        self.file.with_suffix(".part").replace(self.file)


def on(batch: Any, device: str) -> Any:
    """The batch on another device."""
    return replace(batch, ids=batch.ids.to(device), mask=batch.mask.to(device), sentence=batch.sentence.to(device))


def probabilities(training: Training, pairs: Sequence[Labelled]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Shape (pairs, 3)."""
    found = np.zeros((len(pairs), 3), np.float32)
    training.model.head.eval()
    with torch.inference_mode():
        for batch in track(list(batches(pairs, training.tokenizer, range(len(pairs)))), "Scoring"):
            found[batch.places] = training.model(on(batch, training.device)).softmax(-1).cpu().numpy()
    return found


def scores(pairs: Sequence[Labelled], found: np.ndarray[Any, np.dtype[np.float32]]) -> dict[str, Any]:
    """By set and by edit: AUC of entailed against the rest, where there are three classes also the accuracy."""
    told: dict[str, Any] = {}
    source = np.array([p.pair.source if not p.pair.edit else "edits" for p in pairs])
    edit, label = np.array([p.pair.edit for p in pairs]), np.array([p.label for p in pairs])
    yes = label == ENTAILED
    for name in sorted(set(source)):
        told[name] = {"auc": _auc(yes[source == name], found[source == name, 0])}
    for name in ("mnli", "snli"):
        mask = source == name
        told[name]["accuracy"] = round(float((found[mask].argmax(1) == label[mask]).mean()), 3)
        told[name]["contradiction_auc"] = _auc(label[mask] == CONTRADICTED, found[mask, 2])
    kinds = sorted(set(edit[~yes]) - {""})
    told["by_edit"] = {
        k: _auc(yes[m], found[m, 0]) for k in kinds for m in [((edit == k) & ~yes) | ((edit != "") & yes)]
    }
    return told


def _auc(yes: Any, values: Any) -> float:
    return round(float(roc_auc_score(yes, values)), 3)


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where pairs, checkpoints and scores are kept.")],
    tier: Annotated[str, typer.Option(help="fast (MiniLM) or accurate (mpnet).")] = "fast",
    epochs: Annotated[int, typer.Option(help="Passes over all pairs.")] = 3,
    rank: Annotated[int, typer.Option(help="Of the low-rank update.")] = 64,
    limit: Annotated[int | None, typer.Option(help="Pairs, for a look.")] = None,
) -> None:
    """Collect, train, score, write."""
    console, found = Console(), collected(data, home)
    training_pairs = [p for p in found if not p.pair.held_out]
    if limit:
        training_pairs = random.Random(1).sample(training_pairs, limit)
    run = Training(tier, rank, epochs, training_pairs, home / f"judge-{tier}.pt")
    run.run(console)
    rest = [p for p in found if p.pair.held_out]
    told = {"pairs": len(training_pairs), "epochs": epochs, "held_out": scores(rest, probabilities(run, rest))}
    (home / f"judge-{tier}.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    console.print_json(json.dumps(told))


if __name__ == "__main__":
    typer.run(main)
