"""Train the judge: all weights, a linear schedule over word pieces, and a state from which a stopped run goes on."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertForSequenceClassification

from training.nli.pairs import epoch
from training.nli.sources import NOT_ENTAILED, Pair

PIECES = 128
"""Word pieces of a pair; the longer of sentence and evidence is cut."""
RATE, HEAD_RATE = 5e-5, 3e-4
WARM = 0.05
"""Share of the run in which the rate rises; then it falls to nothing."""
_SORTED = 2_048  # pairs in a row of which those of like length stand together


@dataclass(frozen=True)
class Options:
    """How long and in what steps.

    Args:
        tokens: Word pieces of the whole run.
        hours: At most, of steps; the rate falls by whichever of the two is nearer to its end.
        size: Word pieces of a step.
        seed: Of the order, of what is drawn and of the new layer.
        save: Seconds between two states.
        tell: Seconds between two lines.
    """

    tokens: int
    hours: float = 1_000.0
    size: int = 1_024
    seed: int = 0
    save: float = 600.0
    tell: float = 60.0


@dataclass
class Position:
    """Where a run is: the epoch, the next batch in it, and what was done."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    tokens: int = 0
    pairs: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Encoded:
    """A pair in word pieces."""

    ids: list[int]
    types: list[int]
    label: int


@dataclass(frozen=True)
class Batch:
    """Pairs of about one length, of shape (pairs, pieces), and their labels."""

    ids: Tensor
    mask: Tensor
    types: Tensor
    labels: Tensor

    @property
    def pieces(self) -> int:
        """Without what is filled up."""
        return int(self.mask.sum())


def tokenizer_of(folder: Path) -> Tokenizer:
    """Sentence and evidence together, `PIECES` at most."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(PIECES, strategy="longest_first")
    return tokenizer


def encoded(pairs: Sequence[Pair], tokenizer: Tokenizer) -> list[Encoded]:
    """The pairs in word pieces, the sentence first."""
    found = tokenizer.encode_batch([(p.sentence, p.evidence) for p in pairs])
    return [Encoded(e.ids, e.type_ids, p.label) for e, p in zip(found, pairs, strict=True)]


def batches(rows: Sequence[Encoded], size: int, seed: str) -> list[list[int]]:
    """Places of the rows of each step, at most ``size`` pieces with what is filled up; always in the same order."""
    found: list[list[int]] = []
    for first in range(0, len(rows), _SORTED):
        some = sorted(range(first, min(first + _SORTED, len(rows))), key=lambda i: len(rows[i].ids))
        part: list[int] = []
        for i in some:
            if part and (len(part) + 1) * len(rows[i].ids) > size:
                found.append(part)
                part = []
            part.append(i)
        found.append(part)
    random.Random(seed).shuffle(found)
    return found


def padded(rows: Sequence[Encoded], device: str = "cpu") -> Batch:
    """The rows as one batch."""
    length = max(len(row.ids) for row in rows)

    def filled(values: Iterator[list[int]]) -> Tensor:
        return torch.tensor([[*row, *[0] * (length - len(row))] for row in values], device=device)

    ids, types = filled(row.ids for row in rows), filled(row.types for row in rows)
    mask = filled([1] * len(row.ids) for row in rows)
    return Batch(ids, mask, types, torch.tensor([row.label for row in rows], device=device))


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of shape (pairs,); where only *not entailed* is known, that of the two classes together."""
    logs = logits.float().log_softmax(-1)
    exact = logs.gather(1, labels.clamp(max=NOT_ENTAILED - 1).unsqueeze(1)).squeeze(1)
    return -torch.where(labels == NOT_ENTAILED, logs[:, 1:].logsumexp(-1), exact)


def rate_at(done: float) -> float:
    """Share of the full rate when the share ``done`` of the run is over."""
    return max(0.0, min(done / WARM, (1 - done) / (1 - WARM)))


class Training:
    """A run that can be stopped at any step.

    Args:
        model: With three classes.
        tokenizer: Of the model.
        pairs: All pairs; those held out are not used.
        home: Where state and log are kept.
        options: How long and in what steps.
        tell: Gets a line now and then.
    """

    def __init__(
        self,
        model: BertForSequenceClassification,
        tokenizer: Tokenizer,
        pairs: Sequence[Pair],
        home: Path,
        options: Options,
        tell: Callable[[str], None] = print,
    ) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model: Any = model
        self.model.to(self.device)
        self.tokenizer, self.pairs, self.home, self.options, self._tell = tokenizer, pairs, home, options, tell
        self.position, self.stopped = Position(), False
        self.optimiser = torch.optim.AdamW(_groups(model), lr=RATE, fused=True)
        home.mkdir(parents=True, exist_ok=True)
        if self._file.exists():
            self._load()

    @property
    def _file(self) -> Path:
        return self.home / "state.pt"

    @property
    def done(self) -> float:
        """Share of the run that is over."""
        return max(self.position.tokens / self.options.tokens, self.position.seconds / (3600 * self.options.hours))

    @property
    def finished(self) -> bool:
        """Whether all of it is over."""
        return self.done >= 1

    def stop(self, *_: object) -> None:
        """Save after the step that runs, and end."""
        self.stopped = True

    def run(self) -> None:
        """All that is left; SIGTERM and SIGINT save and stop."""
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self.stop)
        self.model.train()
        while not self.finished and not self.stopped:
            self._epoch()
        self._save()

    def _epoch(self) -> None:
        rows = encoded(epoch(self.pairs, self.options.seed, self.position.epoch), self.tokenizer)
        order = batches(rows, self.options.size, f"{self.options.seed} {self.position.epoch}")
        per_pair = sum(len(row.ids) for row in rows)
        self._tell(f"epoch {self.position.epoch}: {len(rows)} pairs, {per_pair} tokens, {len(order)} steps")
        saved = told = time.monotonic()
        losses, since = list[float](), self.position.tokens
        while self.position.batch < len(order) and not self.finished and not self.stopped:
            losses.append(self._step([rows[i] for i in order[self.position.batch]]))
            now = time.monotonic()
            if now - told >= self.options.tell:
                self._report(losses, (self.position.tokens - since) / (now - told))
                told, since = now, self.position.tokens
                losses.clear()
            if now - saved >= self.options.save:
                self._save()
                saved = now
        if self.position.batch == len(order):
            self.position.epoch, self.position.batch = self.position.epoch + 1, 0

    def _step(self, rows: Sequence[Encoded]) -> float:
        start = time.monotonic()
        batch = padded(rows, self.device)
        for group in self.optimiser.param_groups:
            group["lr"] = group["full"] * rate_at(self.done)
        with torch.autocast(self.device, torch.bfloat16):
            logits = self.model(input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.types).logits
        loss = loss_of(logits, batch.labels).mean()
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        at = self.position
        at.batch, at.step, at.pairs = at.batch + 1, at.step + 1, at.pairs + len(rows)
        at.tokens += batch.pieces
        at.seconds += time.monotonic() - start
        return float(loss.detach())

    def _report(self, losses: Sequence[float], speed: float) -> None:
        at, some = self.position, self.options
        left = min((some.tokens - at.tokens) / speed, 3600 * some.hours - at.seconds)
        now = time.time()
        self._tell(
            f"{time.strftime('%H:%M:%S', time.localtime(now))} step {at.step}, {at.tokens} tokens, {speed:.0f}/s, "
            f"loss {sum(losses) / len(losses):.4f}, {self.done:.1%} of the run, "
            f"ends {time.strftime('%H:%M', time.localtime(now + left))}"
        )

    def _load(self) -> None:
        state = torch.load(self._file, weights_only=True, map_location=self.device)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        for group in self.optimiser.param_groups:
            group["fused"] = True
        self.position = Position(**state["position"])
        self._tell(f"goes on at step {self.position.step}")

    def _save(self) -> None:
        state = {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict()}
        part = self._file.with_suffix(".part")
        torch.save({**state, "position": asdict(self.position)}, part)
        part.replace(self._file)
        told = {"options": asdict(self.options), "position": asdict(self.position), "finished": self.finished}
        (self.home / "run.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def _groups(model: BertForSequenceClassification) -> list[dict[str, Any]]:
    """The new layer learns faster; biases, norms and embeddings do not decay."""
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        full = HEAD_RATE if name.startswith("classifier") else RATE
        decay = 0.0 if parameter.ndim == 1 or "embeddings" in name else 0.01
        groups.setdefault((full, decay), []).append(parameter)
    return [{"params": some, "full": full, "weight_decay": decay} for (full, decay), some in groups.items()]
