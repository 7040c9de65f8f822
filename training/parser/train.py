"""Train a tier on GUM: ``python -m training.parser.train --tier fast``.

Resumes where it was interrupted. Every step sees two documents as trees over the EDUs of the document, over those of
each window, and over sentences and paragraphs. First the heads learn over the bare encoder, then the encoder's updates
with them, on windows cut at other places each time, then the heads alone again over the encoder as it is now.
"""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import track
from torch import Tensor

from discorag.rst.gum_labels import CLASSES, class_of
from discorag.rst.trained.decode import cuts_of, level_sums
from discorag.rst.trained.model import JOINT_LABELS, Model, units_of
from discorag.rst.trained.network import Reading, Units
from discorag.rst.trained.pieces import Pieces
from discorag.rst.trained.run import layout_of
from discorag.rst.trained.tiers import TIERS, Tier, save, transformer
from discorag.types.rst_relations import Nuclearity
from training.parser.gold import merged, paragraph_spans, restricted
from training.parser.gum import SHARED_GENRES, Conversion, GoldSplit, GumDocument, load_gum
from training.parser.score import score

_GROUPS = sorted({(n, class_of(label)) for n, label in JOINT_LABELS}, key=lambda g: (CLASSES.index(g[1]), g[0]))
_GROUP_OF = torch.tensor([_GROUPS.index((n, class_of(label))) for n, label in JOINT_LABELS])
_INDEX = {pair: i for i, pair in enumerate(JOINT_LABELS)}
_DOCUMENTS = 2
_SEGMENT_WEIGHT, _FINE_WEIGHT = 2.0, 0.3


@dataclass(frozen=True)
class View:
    """Units of a text and the gold tree over them."""

    units: Units
    splits: Sequence[GoldSplit]


def views(document: GumDocument, pieces: Pieces) -> list[View]:
    """The trees that a document is trained on."""
    found = [View(units_of(pieces, document.edus, "edu"), document.splits)]
    for window in pieces.windows if len(pieces.windows) > 1 else ():
        inside = [i for i, e in enumerate(document.edus) if _within(pieces, e.start, e.end, window)]
        edus = [document.edus[i] for i in inside]
        found.append(View(units_of(pieces, edus, "edu"), restricted(document.splits, inside)))
    sentences, tree = merged(document, document.sentences)
    found.append(View(units_of(pieces, sentences, "sentence"), tree))
    paragraphs, tree = merged(document, list(paragraph_spans(document.sentences, document.paragraphs)))
    found.append(View(units_of(pieces, paragraphs, "paragraph"), tree))
    return [v for v in found if v.splits]


def _within(pieces: Pieces, start: int, end: int, window: tuple[int, int]) -> bool:
    return pieces.starts[window[0]] <= start and end <= pieces.ends[window[1] - 1]


def losses(model: Model, document: GumDocument, pieces: Pieces, tokens: Tensor) -> Tensor:
    """The sum of what is wrong with segmentation, splits and labels of one document."""
    segment = _segment_loss(model, document, pieces, tokens)
    parts = views(document, pieces)
    readings = model.network.read_units(tokens, [v.units for v in parts])
    trees = [_tree_loss(model, v, r) for v, r in zip(parts, readings, strict=True)]
    return _SEGMENT_WEIGHT * segment + torch.stack(trees).sum() / sum(len(v.splits) for v in parts)


def _segment_loss(model: Model, document: GumDocument, pieces: Pieces, tokens: Tensor) -> Tensor:
    gold = torch.zeros(len(pieces.ids))
    gold[[pieces.range_of(e)[0] for e in document.edus]] = 1
    logits = model.network.boundaries(tokens, torch.from_numpy(pieces.levels))
    opens = torch.from_numpy(pieces.opens)
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[opens], gold[opens])


def _tree_loss(model: Model, view: View, reading: Reading) -> Tensor:
    """Summed over the view's splits."""
    levels, sums = view.units.levels, level_sums(view.units.levels)
    places = torch.tensor([(s.start, k, s.end) for s in view.splits for k in range(s.start + 1, s.end)]).T
    scores = model.network.split_scores(reading, cuts_of(places, levels, sums))
    owner = torch.repeat_interleave(
        torch.arange(len(view.splits)), torch.tensor([s.end - s.start - 1 for s in view.splits])
    )
    gold = torch.tensor([(s.start, s.mid, s.end) for s in view.splits]).T
    right = scores[places[1] == gold[1][owner]]
    logits = model.network.label_logits(reading, cuts_of(gold, levels, sums))
    return (_logsumexp(scores, owner, len(view.splits)) - right).sum() + _label_loss(logits, view.splits)


def _logsumexp(scores: Tensor, owner: Tensor, n: int) -> Tensor:
    top = torch.full((n,), -torch.inf).scatter_reduce(0, owner, scores.detach(), "amax")
    return torch.zeros(n).index_add(0, owner, (scores - top[owner]).exp()).log() + top


def _label_loss(logits: Tensor, splits: Sequence[GoldSplit]) -> Tensor:
    """Of the coarse class with its nuclearity, and a little of GUM's own label."""
    wanted = [_INDEX.get((s.nuclearity, s.label), _fallback(s)) for s in splits]
    fine = logits.log_softmax(-1)
    gold = torch.tensor(wanted)
    same = _GROUP_OF.unsqueeze(0) == _GROUP_OF[gold].unsqueeze(1)
    coarse = fine.masked_fill(~same, -torch.inf).logsumexp(-1)
    return -coarse.sum() - _FINE_WEIGHT * fine.gather(1, gold.unsqueeze(1)).sum()


def _fallback(split: GoldSplit) -> int:
    """A label that the corpus uses with a nuclearity that it should not have: the class's first one that has it."""
    pairs = [p for p in JOINT_LABELS if p[0] is split.nuclearity and class_of(p[1]) == class_of(split.label)]
    return _INDEX[(pairs or [(Nuclearity.NN, "joint-other")])[0]]


@dataclass
class Run:
    """A training run that can be stopped after any epoch."""

    model: Model
    optimiser: torch.optim.Optimizer
    schedule: torch.optim.lr_scheduler.LRScheduler
    states: States
    epoch: int = 0
    best: float = 0.0

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        state: dict[str, Any] = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"], strict=False)
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.load_state_dict(state["schedule"])
        self.epoch, self.best = state["epoch"], state["best"]

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        state = {"model": self.model.trained(), "optimiser": self.optimiser.state_dict()}
        state |= {"schedule": self.schedule.state_dict(), "epoch": self.epoch, "best": self.best}
        torch.save(state, path.with_suffix(".part"))
        path.with_suffix(".part").replace(path)


def prepared(tier: Tier, steps: int, epochs: int) -> Run:
    """A fresh model with its optimiser: first the heads alone, then all, at falling rates."""
    model = Model(transformer(tier), tier.shape, tier.sizes)
    groups = [
        {"params": [p for p in model.backbone.parameters() if p.requires_grad], "lr": tier.adapter_rate},
        {"params": list(model.network.parameters()), "lr": tier.head_rate},
    ]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
    rates = Rates(tier.warm * steps, (tier.warm + epochs) * steps, (tier.warm + epochs + tier.settle) * steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, [rates.adapters, rates.heads])
    return Run(model, optimiser, schedule, States(model))


@dataclass(frozen=True)
class Rates:
    """Shares of the learning rates by step.

    Args:
        warm: Steps for the heads alone.
        tuned: Steps until the encoder's updates are done.
        end: Steps in all.
    """

    warm: int
    tuned: int
    end: int
    _WARM_UP = 50

    def heads(self, step: int) -> float:
        """Up, down to a third while alone, from there to nothing; once more from the top when they are alone again."""
        if step < self.warm:
            return min(1.0, (step + 1) / self._WARM_UP) * (1 - 2 / 3 * step / self.warm)
        if step < self.tuned:
            return self._falling(step, self.warm, self.tuned) / 3
        return min(1.0, (step - self.tuned + 1) / self._WARM_UP) * self._falling(step, self.tuned, self.end)

    def adapters(self, step: int) -> float:
        """Up once the heads are warm, then to nothing."""
        if not self.warm <= step < self.tuned:
            return 0.0
        return min(1.0, (step - self.warm + 1) / self._WARM_UP) * self._falling(step, self.warm, self.tuned)

    @staticmethod
    def _falling(step: int, start: int, end: int) -> float:
        return max(0.0, (end - step) / max(end - start, 1))


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


def epoch(run: Run, documents: Sequence[GumDocument], seed: int, *, tuned: range) -> float:
    """One pass over the documents; returns the mean loss. In the epochs ``tuned`` the encoder is trained too."""
    chance = random.Random(f"{seed}-{run.epoch}")
    order = chance.sample(documents, len(documents))
    torch.manual_seed(seed + run.epoch)
    run.model.train()
    if run.epoch in tuned:
        run.states.forget()
    total = 0.0
    batches = [order[i : i + _DOCUMENTS] for i in range(0, len(order), _DOCUMENTS)]
    for batch in track(batches, description=f"epoch {run.epoch + 1}"):
        seen = _encoded(run.model, batch, chance) if run.epoch in tuned else [run.states.of(d) for d in batch]
        tokens = [run.model.network.read(states) for _, states in seen]
        each = [losses(run.model, d, p, t) for d, (p, _), t in zip(batch, seen, tokens, strict=True)]
        loss = torch.stack(each).mean()
        run.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(run.model.parameters(), 2.0)
        run.optimiser.step()
        run.schedule.step()
        total += loss.item()
    run.epoch += 1
    return total / len(batches)


def _encoded(model: Model, batch: Sequence[GumDocument], chance: random.Random) -> list[tuple[Pieces, Tensor]]:
    """With windows cut at other places each time."""
    first = [chance.randrange(32, model.shape.window - 2) for _ in batch]
    pieces = [model.pieces(layout_of(d.text), first=f) for d, f in zip(batch, first, strict=True)]
    states = model.states(pieces)
    return list(zip(pieces, states.split([len(p.ids) for p in pieces]), strict=True))


def main(
    tier: Annotated[str, typer.Option(help="fast or accurate.")],
    genres: Annotated[str, typer.Option(help="shared (texts that may be redistributed) or all.")] = "shared",
    gum: Annotated[Path, typer.Option(help="The corpus.")] = Path("../shared/data/gum"),
    work: Annotated[Path, typer.Option(help="Checkpoints.")] = Path(".disco-rag/train"),
    epochs: Annotated[int, typer.Option(help="Passes over the corpus; 0 for the tier's own number.")] = 0,
    seed: int = 1,
    conversion: Annotated[Conversion, typer.Option(help="To sentences; parents: as DISRetrieval has it.")] = "promoted",
) -> None:
    """Train, measure on the development part after every epoch, keep the best."""
    console, chosen = Console(), TIERS[tier]
    only = SHARED_GENRES if genres == "shared" else None
    train = load_gum(gum, "train", genres=only, conversion=conversion)
    dev = load_gum(gum, "dev", conversion=conversion)
    run = prepared(chosen, -(-len(train) // _DOCUMENTS), epochs or chosen.epochs)
    folder = work / f"{tier}-{genres}-{seed}{'' if conversion == 'promoted' else f'-{conversion}'}"
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "last.pt").exists():
        run.load(folder / "last.pt")
        console.print(f"Goes on after epoch {run.epoch}.")
    tuned = range(chosen.warm, chosen.warm + (epochs or chosen.epochs))
    while run.epoch < tuned.stop + chosen.settle:
        loss = epoch(run, train, seed, tuned=tuned)
        console.print(f"epoch {run.epoch}: loss {loss:.3f}")
        if run.epoch >= chosen.warm:
            _keep_best(run, dev, folder / "best.safetensors", chosen.bits, console)
        run.save(folder / "last.pt")


def _keep_best(run: Run, documents: Sequence[GumDocument], path: Path, bits: int, console: Console) -> None:
    """Measure on the development part; write the weights if none were better, by Full of gold and own EDUs."""
    found = score(run.model, documents, cases=("gold", "end_to_end"))
    shown = (f"{name} {value:.1f}" for case in found.values() for name, value in case if value is not None)
    console.print(*shown, sep="  ", soft_wrap=True)
    full = found["gold"].full + found["end_to_end"].full
    if full > run.best:
        run.best = full
        save(run.model, path, bits=bits)


if __name__ == "__main__":
    typer.run(main)
