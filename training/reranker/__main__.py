"""Train the reranker that reads a sentence in its passage: ``python -m training.reranker DATA HOME``.

All weights of the packaged reranker but its word embeddings are trained further. Its one output becomes two, which
begin as copies: the first orders the sentences of a question, the second says whether a sentence answers it. The same
command resumes a run that was stopped.
"""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch import Tensor, nn
from transformers import BertForSequenceClassification, PreTrainedTokenizerFast, Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

from discorag.models.packaged import MS_MARCO_MINILM, file_sha256, packaged_folder
from discorag.schema.values import digest
from eval.splits import Part
from eval.splits import groups as pages
from training.nli.__main__ import tokenizer_of
from training.nli.graph import floats_of, start_model, write_graph
from training.reranker.groups import Group, training_groups
from training.reranker.questions import LICENCES, read_questions

PIECES = 128
"""Word pieces of a pair in training."""
BATCH = 4
"""Groups in a step."""
PARTS: tuple[Part, ...] = ("train", "choose", "score")


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """The listwise loss of the first output and the binary loss of the second; every group counts equally.

    Args:
        logits: Shape (pairs, 2).
        labels: Shape (pairs, 2): the pair's group, and whether its sentence answers.
    """
    logits, right = logits.float(), labels[:, 1].bool()
    every = [labels[:, 0] == group for group in labels[:, 0].unique()]
    order = [logits[own, 0].logsumexp(0) - logits[own & right, 0].logsumexp(0) for own in every if (own & right).any()]
    each = nn.functional.binary_cross_entropy_with_logits(logits[:, 1], right.float(), reduction="none")
    return (sum(order, logits.new_zeros(())) + torch.stack([each[own].mean() for own in every]).sum()) / len(every)


def _batch_loss(outputs: Any, labels: Tensor, **_: Any) -> Tensor:
    return loss_of(outputs.logits, labels)


def collator(tokenizer: PreTrainedTokenizerFast) -> Callable[[Sequence[dict[str, Group]]], dict[str, Tensor]]:
    """A function that turns a batch of groups into a batch of pairs."""

    def collate(rows: Sequence[dict[str, Group]]) -> dict[str, Tensor]:
        found = [row["group"] for row in rows]
        asked = [group.question for group in found for _ in group.texts]
        texts = [text for group in found for text in group.texts]
        batch = tokenizer(
            asked, texts, truncation="longest_first", max_length=PIECES, padding=True, return_tensors="pt"
        )
        labels = [(i, right) for i, group in enumerate(found) for right in group.right]
        return {**batch, "labels": torch.tensor(labels)}

    return collate


def start(folder: Path) -> BertForSequenceClassification:
    """The packaged reranker with its one output twice."""
    model, stored = start_model(folder, 2), floats_of(folder / "model.onnx")
    with torch.no_grad():
        for name, values in model.classifier.named_parameters():
            values.copy_(torch.from_numpy(stored[f"classifier.{name}"]).expand_as(values))
    model.bert.embeddings.word_embeddings.requires_grad_(False)
    return model


def train(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerFast,
    found: Sequence[Group],
    home: Path,
    seed: int = 0,
    every: int = 50,
) -> dict[str, Tensor]:
    """Train once over the groups, or resume a run of this folder; return the weights.

    Args:
        model: The model to train; its weights change.
        tokenizer: The tokenizer of the model.
        found: The groups, in the order of a fair sample.
        home: Folder of the states of the run.
        seed: Seed for the order of the steps.
        every: Steps from one state to the next.
    """
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(home),
            num_train_epochs=1,
            per_device_train_batch_size=BATCH,
            learning_rate=5e-5,
            warmup_steps=0.1,
            weight_decay=0.01,
            save_steps=every,
            save_total_limit=1,
            logging_steps=10,
            remove_unused_columns=False,
            dataloader_pin_memory=torch.cuda.is_available(),
            report_to="none",
            seed=seed,
        ),
        train_dataset=[{"group": group} for group in found],  # pyright: ignore[reportArgumentType]: a list will do
        data_collator=collator(tokenizer),
        compute_loss_func=_batch_loss,
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(home)) if home.is_dir() else None)
    return {name: value.detach() for name, value in trainer.model.state_dict().items()}  # pyright: ignore


def export(weights: dict[str, Tensor], found: Sequence[Group], folder: Path, out: Path, seed: int) -> dict[str, Any]:
    """Write the int8 model, and next to it the record of what it was made of; return the record."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "tokenizer.json", out)
    write_graph(folder, weights, out / "model.onnx")
    counts = Counter(group.source for group in found)
    record = {
        "sha256": file_sha256(out / "model.onnx"),
        "made_from": file_sha256(folder / "model.onnx"),
        "seed": seed,
        "groups": len(found),
        "pairs": sum(len(group.texts) for group in found),
        "unanswerable": sum(not any(group.right) for group in found),
        "data_sha256": digest("\n".join(text for group in found for text in (group.question, *group.texts))),
        "sets": {name: {"licence": licence, "groups": counts[name]} for name, licence in LICENCES.items()},
    }
    (out / "record.json").write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return record


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Where states and the model are written.")],
    most: Annotated[int | None, typer.Option(help="Groups to train on, for a learning curve; all by default.")] = None,
    seed: Annotated[int, typer.Option(help="Seed for the order of the groups.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads of torch; 0 lets torch choose.")] = 0,
) -> None:
    """Train, export, print the record."""
    if threads:
        torch.set_num_threads(threads)
    apart = {page for name in ("clapnq", "nq_open_oracle") for part in PARTS for page in pages(name, part)}
    questions = (q for name in LICENCES for q in read_questions(data / "reading" / name / f"{name}.jsonl.gz"))
    found, folder = list(islice(training_groups(questions, apart, seed), most)), packaged_folder(MS_MARCO_MINILM.name)
    place = home / f"{len(found)}-{seed}"
    weights = train(start(folder), tokenizer_of(folder), found, place / "states", seed)
    typer.echo(json.dumps(export(weights, found, folder, place / "model", seed), indent=1))


if __name__ == "__main__":
    typer.run(main)
