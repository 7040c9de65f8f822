"""Train the judge of support, then write it as an int8 file: ``python -m training.nli DATA HOME``.

All weights of the packaged reranker are trained, with a new last layer of three classes. A run that was stopped is
resumed by the same command.
"""

# torch, transformers and scikit-learn are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score, roc_curve
from torch import Tensor, tensor, where
from transformers import DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

from discorag.models.cross_encoder import OnnxCrossEncoder
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from training.nli.apart import collect_pairs
from training.nli.graph import start_model, write_graph
from training.nli.sources import CLASSES, ENTAILMENT, LICENCES, NOT_ENTAILED, Pair

PIECES = 128
"""Word pieces of a pair in training; the longer of sentence and evidence is cut."""
MOST = 3_000
"""Pairs of a set that are made by rule and short (MED, HELP)."""
HELD_OUT = 400
"""Pairs of a set that temperature and threshold are chosen on."""


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy; where only *not entailed* is known, that of the two classes together."""
    logs = logits.float().log_softmax(-1)
    exact = logs.gather(1, labels.clamp(max=NOT_ENTAILED - 1).unsqueeze(1)).squeeze(1)
    return -where(labels == NOT_ENTAILED, logs[:, 1:].logsumexp(-1), exact).mean()


def _batch_loss(outputs: Any, labels: Tensor, **_: Any) -> Tensor:
    return loss_of(outputs.logits, labels)


def training_pairs(found: Sequence[Pair], seed: int) -> list[Pair]:
    """The pairs that are not held out, in random order; at most `MOST` of MED and of HELP."""
    drawn, counts = list[Pair](), Counter[str]()
    for pair in random.Random(seed).sample(found, len(found)):
        counts[pair.source] += not pair.held_out
        if not pair.held_out and (pair.source not in ("med", "help") or counts[pair.source] <= MOST):
            drawn.append(pair)
    return drawn


def tokenizer_of(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer of an ONNX model's folder."""
    names = ["input_ids", "token_type_ids", "attention_mask"]
    file = str(folder / "tokenizer.json")
    return PreTrainedTokenizerFast(tokenizer_file=file, pad_token="[PAD]", model_input_names=names)


def train(found: Sequence[Pair], start: Path, home: Path, epochs: float, seed: int) -> dict[str, Tensor]:
    """Train, or resume a run of this folder; return the weights."""
    tokenizer = tokenizer_of(start)
    rows = [
        tokenizer(p.sentence, p.evidence, truncation="longest_first", max_length=PIECES) | {"labels": p.label}
        for p in training_pairs(found, seed)
    ]
    trainer = Trainer(
        model=start_model(start, len(CLASSES), seed),
        args=TrainingArguments(
            output_dir=str(home),
            num_train_epochs=epochs,
            per_device_train_batch_size=32,
            train_sampling_strategy="group_by_length",
            learning_rate=5e-5,
            warmup_steps=0.05,
            weight_decay=0.01,
            save_steps=500,
            save_total_limit=1,
            logging_steps=100,
            report_to="none",
            seed=seed,
        ),
        train_dataset=rows,  # pyright: ignore[reportArgumentType]: a list has what is asked of a data set
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_loss_func=_batch_loss,
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(home)) if home.is_dir() else None)
    return {name: value.detach() for name, value in trainer.model.state_dict().items()}  # pyright: ignore


def export(weights: dict[str, Tensor], found: Sequence[Pair], start: Path, out: Path) -> dict[str, Any]:
    """Write the folder that ``DISCO_RAG_NLI__MODEL`` takes; return what was measured on pairs that are held out."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(start / "tokenizer.json", out)
    write_graph(start, weights, out / "model.onnx")
    by_set = {name: [p for p in found if p.held_out and p.source == name][:HELD_OUT] for name in LICENCES}
    some = [p for pairs in by_set.values() for p in pairs]
    logits = tensor(OnnxCrossEncoder(out, PIECES).logits([(p.sentence, p.evidence) for p in some])).double()
    labels = tensor([p.label for p in some])

    def loss(temperature: float) -> float:
        return float(loss_of(logits / temperature, labels))

    best: Any = minimize_scalar(loss, bounds=(0.5, 4), method="bounded")
    temperature = round(float(best.x), 3)
    config = {"id2label": dict(enumerate(CLASSES)), "hypothesis_first": True, "temperature": temperature}
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    chance = (logits / temperature).softmax(-1)[:, ENTAILMENT].numpy()
    follows, of_set = labels.numpy() == ENTAILMENT, np.array([p.source for p in some])
    wrong, right, thresholds = roc_curve(follows, chance)
    return {
        "threshold": round(float(thresholds[(right - wrong).argmax()]), 3),  # of the best balanced accuracy
        "auc": {s: round(float(roc_auc_score(follows[of_set == s], chance[of_set == s])), 3) for s in set(of_set)},
    }


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where states and the model are written.")],
    epochs: Annotated[float, typer.Option(help="Of all pairs.")] = 3.0,
    seed: Annotated[int, typer.Option(help="Of order, draws and the new layer.")] = 0,
    most: Annotated[int | None, typer.Option(help="Pairs, for a trial; all if not given.")] = None,
) -> None:
    """Train, export, print what was measured."""
    start, place = packaged_folder(MS_MARCO_MINILM.name), home / f"seed-{seed}"
    found = list(collect_pairs(data))
    found = found if most is None else random.Random(seed).sample(found, most)
    weights = train(found, start, place / "states", epochs, seed)
    typer.echo(json.dumps(export(weights, found, start, place / "model"), indent=1))


if __name__ == "__main__":
    typer.run(main)
