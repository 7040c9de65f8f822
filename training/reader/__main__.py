"""``python -m training.reader``: what structure brings to a reader that is trained on it, and to its controls.

The reader is the packaged reranker (ms-marco-MiniLM-L-12-v2) in floats, which scores the candidate sentences of a
question. In every condition its last two layers are trained from the same weights, on the same questions, for as many
steps, by the cross-entropy over a question's candidates; a seed orders the questions. Hidden states below these layers
are computed once. An interrupted run is resumed, and a condition that has fewer seeds gets the missing ones.
"""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import random
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from rich.progress import track
from tokenizers import Tokenizer
from torch import Tensor, nn

from bench.report import write
from bench.stats import mean
from discorag.models.packaged import MS_MARCO_MINILM, packaged_folder
from training.nli.graph import start_model
from training.reader.examples import CONDITIONS, Question, read_questions, shares

TRAINED = 2
"""Layers at the top that are trained, of twelve."""
TOKENS, RATE, EPOCHS, TOGETHER = 128, 3e-5, 2, 4
PAIRS = (
    ("trees", "sentence"),
    ("trees", "neighbours"),
    ("trees", "random-trees"),
    ("trees", "filler"),
    ("graph", "sentence"),
    ("graph", "permuted-graph"),
    ("plan", "sentence"),
    ("plan", "other-plan"),
    ("neighbours", "sentence"),
)
Inputs = tuple[Tensor, Tensor]
"""Hidden states below the trained layers, shape (candidates, tokens, 384), and the mask."""
Ranks = dict[str, NDArray[np.float64]]


class Reader(nn.Module):
    """The layers that are trained, and the layer that gives the logit."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.layers = deepcopy(model.bert.encoder.layer[-TRAINED:])
        self.pooler, self.classifier = deepcopy(model.bert.pooler), deepcopy(model.classifier)

    def forward(self, inputs: Inputs) -> Tensor:
        """The logit of each candidate."""
        hidden, mask = inputs
        hidden = _through(self.layers, hidden.float(), mask)
        return self.classifier(self.pooler(hidden)).squeeze(-1)


def _through(layers: Any, hidden: Tensor, mask: Tensor) -> Tensor:
    wide = (1.0 - mask[:, None, None, :].float()) * -1e9
    for layer in layers:
        out = layer(hidden, wide)
        hidden = out if isinstance(out, Tensor) else out[0]
    return hidden


@torch.no_grad()
def compute_inputs(model: Any, tokenizer: Tokenizer, question: Question, condition: str) -> Inputs:
    """What the trained layers read of a question."""
    rows = tokenizer.encode_batch([(question.query, text) for text in question.texts[condition]])
    ids, types, mask = (torch.tensor([getattr(r, n) for r in rows]) for n in ("ids", "type_ids", "attention_mask"))
    hidden = model.bert.embeddings(input_ids=ids, token_type_ids=types)
    return _through(model.bert.encoder.layer[:-TRAINED], hidden, mask).half(), mask


def train(reader: Reader, questions: Sequence[tuple[Inputs, Tensor]], seed: int) -> None:
    """Train in place; the loss is the cross-entropy between the candidates' scores and the gold ones, evenly."""
    torch.manual_seed(seed)
    optimiser = torch.optim.AdamW(reader.parameters(), lr=RATE, weight_decay=0.01)
    order = random.Random(seed)
    for _ in range(EPOCHS):
        shuffled = order.sample(range(len(questions)), len(questions))
        for start in range(0, len(shuffled), TOGETHER):
            optimiser.zero_grad()
            for i in shuffled[start : start + TOGETHER]:
                inputs, gold = questions[i]
                loss = -(torch.log_softmax(reader(inputs), 0) * gold / gold.sum()).sum() / TOGETHER
                loss.backward()
            optimiser.step()


@torch.no_grad()
def reciprocal_rank(reader: Reader, inputs: Inputs, gold: Tensor) -> float:
    """1 over the rank of the best gold candidate."""
    order = reader(inputs).argsort(descending=True)
    return 1.0 / (int(gold[order].nonzero()[0]) + 1)


def summarise(ranks: Ranks, suites: NDArray[Any]) -> dict[str, Any]:
    """Mean reciprocal rank of each condition in points, and paired differences; over all questions and by suite."""
    parts = {"all": np.ones(len(suites), bool), **{str(s): suites == s for s in dict.fromkeys(suites)}}
    pairs = [(a, b) for a, b in PAIRS if {a, b} <= ranks.keys()]
    return {
        part: {
            "n": int(rows.sum()),
            "mrr": {name: mean(100 * found[rows], digits=1) for name, found in ranks.items()},
            "differences": {f"{a} - {b}": mean(100 * (ranks[a] - ranks[b])[rows], digits=1) for a, b in pairs},
        }
        for part, rows in parts.items()
    }


def main(
    data: Annotated[Path, typer.Option(envvar="DISCO_RAG_DATA")] = Path("../shared/data"),
    home: Path = Path(".disco-rag/reader"),
    out: Path = Path("bench/results/reader.json"),
    seeds: Annotated[int, typer.Option(help="Training runs; 0: only the reader as it is.")] = 3,
    only: Annotated[list[str], typer.Option(help="Conditions; each takes minutes.")] = list(CONDITIONS),  # noqa: B006
) -> None:
    """Train and score the reader in each condition, and write the summary."""
    home.mkdir(parents=True, exist_ok=True)
    questions = read_questions(data, home)
    parts = {part: [q for q in questions if q.part == part] for part in ("train", "score")}
    folder = packaged_folder(MS_MARCO_MINILM.name)
    model = start_model(folder, 1).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(TOKENS, strategy="only_second")
    tokenizer.enable_padding()
    suites = np.array([q.suite for q in parts["score"]])
    untrained: Ranks = {}
    trained: Ranks = {}
    runs: dict[str, int] = {}
    for condition in only:
        file = home / f"ranks-{condition}-{len(parts['train'])}-{len(suites)}.json"
        found: list[list[float]] = json.loads(file.read_text()) if file.exists() else []
        if len(found) <= seeds:
            rows = {
                part: [
                    (compute_inputs(model, tokenizer, q, condition), torch.tensor(q.gold, dtype=torch.float32))
                    for q in track(part_questions, f"{condition}: {part}")
                ]
                for part, part_questions in parts.items()
                if seeds or part == "score"
            }
            for run in track(range(len(found), seeds + 1), f"{condition}: runs"):
                reader = Reader(model)
                if run:  # the first shows the reader as it is
                    train(reader, rows["train"], seed=run - 1)
                found.append([reciprocal_rank(reader, *row) for row in rows["score"]])
                file.write_text(json.dumps(found))
        untrained[condition], runs[condition] = np.array(found[0]), len(found) - 1
        if runs[condition]:
            trained[condition] = np.mean(found[1:], axis=0)
    figures = {
        "train": dict(sorted(Counter(q.suite for q in parts["train"]).items())),
        "seeds": runs,
        "adds": {name: round(share, 3) for name, share in shares(parts["score"]).items()},
        "untrained": summarise(untrained, suites),
        "trained": summarise(trained, suites),
    }
    write(out, figures)


if __name__ == "__main__":
    typer.run(main)
