"""``python -m training.reader``: what structure brings to a reader that is trained on it, and to its controls.

The reader is the packaged reranker (ms-marco-MiniLM-L-12-v2) in floats, which scores the candidate sentences of a
question. In every condition its upper layers are trained from the same weights, on the same questions, for as many
steps, by the cross-entropy over a question's candidates; a seed orders the questions. How many layers, at which rate
and for how long is chosen once for all conditions, on a fifth of the training questions. Hidden states below the
trained layers are computed once. An interrupted run is resumed; a GPU is used if there is one.
"""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
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

TOKENS, TOGETHER = 128, 8
LAYERS, RATES, EPOCHS = (2, 12), (1e-5, 3e-5, 1e-4), 4
"""What is tried: how many layers are trained, the rates, and the most epochs."""
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
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
Rows = Sequence[tuple[Inputs, Tensor]]
"""For each question what the trained layers read, and which candidates are gold."""
Ranks = dict[str, NDArray[np.float64]]
Choice = tuple[int, float, int]
"""Trained layers, rate, epochs."""


class Reader(nn.Module):
    """The layers that are trained, and the layer that gives the logit."""

    def __init__(self, model: Any, trained: int) -> None:
        super().__init__()
        self.layers = deepcopy(model.bert.encoder.layer[-trained:])
        self.pooler, self.classifier = deepcopy(model.bert.pooler), deepcopy(model.classifier)

    def forward(self, inputs: Inputs) -> Tensor:
        """The logit of each candidate."""
        hidden, mask = inputs
        hidden = _through(self.layers, hidden, mask)
        return self.classifier(self.pooler(hidden)).squeeze(-1)


def _through(layers: Any, hidden: Tensor, mask: Tensor) -> Tensor:
    wide = (1.0 - mask[:, None, None, :].float()) * -1e9
    for layer in layers:
        out = layer(hidden, wide)
        hidden = out if isinstance(out, Tensor) else out[0]
    return hidden


@torch.no_grad()
def compute_inputs(model: Any, tokenizer: Tokenizer, question: Question, condition: str, trained: int) -> Inputs:
    """What the trained layers read of a question."""
    rows = tokenizer.encode_batch([(question.query, text) for text in question.texts[condition]])
    ids, types, mask = (
        torch.tensor([getattr(r, n) for r in rows], device=DEVICE) for n in ("ids", "type_ids", "attention_mask")
    )
    hidden = model.bert.embeddings(input_ids=ids, token_type_ids=types)
    return _through(model.bert.encoder.layer[:-trained], hidden, mask), mask


def train(
    reader: Reader, questions: Rows, seed: int, rate: float, epochs: int, after: Callable[[], None] | None = None
) -> None:
    """Train in place; the loss is the cross-entropy between the candidates' scores and the gold ones, evenly.

    ``after`` is called after each epoch.
    """
    torch.manual_seed(seed)
    optimiser = torch.optim.AdamW(reader.parameters(), lr=rate, weight_decay=0.01)
    order = random.Random(seed)
    for _ in range(epochs):
        shuffled = order.sample(range(len(questions)), len(questions))
        for start in range(0, len(shuffled), TOGETHER):
            optimiser.zero_grad()
            part = shuffled[start : start + TOGETHER]
            for i in part:
                inputs, gold = questions[i]
                loss = -(torch.log_softmax(reader(inputs), 0) * gold / gold.sum()).sum() / len(part)
                loss.backward()
            optimiser.step()
        if after:
            after()


@torch.no_grad()
def reciprocal_ranks(reader: Reader, questions: Rows) -> list[float]:
    """1 over the rank of the best gold candidate, of each question."""
    orders = ((gold, reader(inputs).argsort(descending=True)) for inputs, gold in questions)
    return [1.0 / (int(gold[order].nonzero()[0]) + 1) for gold, order in orders]


def _note_mean(means: list[float], reader: Reader, questions: Rows) -> None:
    means.append(float(np.mean(reciprocal_ranks(reader, questions))))


class Trials:
    """The reader's questions in each condition, with the weights that every run starts from."""

    def __init__(self, questions: Sequence[Question]) -> None:
        folder = packaged_folder(MS_MARCO_MINILM.name)
        model: Any = start_model(folder, 1).eval()
        self._model = model.to(DEVICE)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(TOKENS, strategy="only_second")
        self._tokenizer.enable_padding()
        self._training = [q for q in questions if q.part == "train"]
        self._scored = [q for q in questions if q.part == "score"]

    def _rows(self, questions: Sequence[Question], condition: str, trained: int) -> Rows:
        gold = (torch.tensor(q.gold, dtype=torch.float32, device=DEVICE) for q in questions)
        inputs = (compute_inputs(self._model, self._tokenizer, q, condition, trained) for q in questions)
        return list(zip(inputs, gold, strict=True))

    def choose(self, conditions: Sequence[str]) -> tuple[Choice, dict[str, float]]:
        """The choice whose mean reciprocal rank on the fifth is highest over all conditions, and those of all."""
        shuffled = random.Random(0).sample(self._training, len(self._training))
        rest = [q for i, q in enumerate(shuffled) if i % 5]
        found: dict[Choice, list[float]] = defaultdict(list)
        for trained in LAYERS:
            for condition in track(conditions, f"choose: {trained} layers"):
                held, rows = (self._rows(some, condition, trained) for some in (shuffled[::5], rest))
                for rate in RATES:
                    reader, means = Reader(self._model, trained), list[float]()
                    train(reader, rows, 0, rate, EPOCHS, partial(_note_mean, means, reader, held))
                    for epoch, value in enumerate(means, start=1):
                        found[trained, rate, epoch].append(value)
        means = {choice: float(np.mean(values)) for choice, values in found.items()}
        return max(means, key=means.__getitem__), {" ".join(map(str, c)): m for c, m in means.items()}

    def run(self, condition: str, choice: Choice, seeds: int) -> dict[str, list[Any]]:
        """The reciprocal ranks of the scored questions: ``untrained``, and of each of the ``seeds``."""
        trained, rate, epochs = choice
        rows, scored = (self._rows(some, condition, trained) for some in (self._training, self._scored))
        found: dict[str, list[Any]] = {"untrained": reciprocal_ranks(Reader(self._model, trained), scored), "seeds": []}
        for seed in range(seeds):
            reader = Reader(self._model, trained)
            train(reader, rows, seed, rate, epochs)
            found["seeds"].append(reciprocal_ranks(reader, scored))
        return found


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
    seeds: Annotated[int, typer.Option(help="Training runs of each condition.")] = 3,
    only: Annotated[list[str], typer.Option(help="Conditions.")] = list(CONDITIONS),  # noqa: B006
) -> None:
    """Choose, train and score the reader in each condition, and write the summary."""
    torch.set_float32_matmul_precision("high")
    home.mkdir(parents=True, exist_ok=True)
    questions = read_questions(data, home)
    trials, file = Trials(questions), home / "choice.json"
    if not file.exists():
        file.write_text(json.dumps(trials.choose(only)))
    (trained, rate, epochs), tried = json.loads(file.read_text())
    ranks: dict[str, dict[str, list[Any]]] = {}
    for condition in track(only, "train and score"):
        done = home / f"ranks-{condition}.json"
        if not done.exists():
            done.write_text(json.dumps(trials.run(condition, (trained, rate, epochs), seeds)))
        ranks[condition] = json.loads(done.read_text())
    scored = [q for q in questions if q.part == "score"]
    suites = np.array([q.suite for q in scored])
    figures = {
        "train": dict(sorted(Counter(q.suite for q in questions if q.part == "train").items())),
        "seeds": seeds,
        "choice": {"layers": trained, "rate": rate, "epochs": epochs, "tried": tried},
        "adds": {name: round(share, 3) for name, share in shares(scored).items()},
        "untrained": summarise({name: np.array(r["untrained"]) for name, r in ranks.items()}, suites),
        "trained": summarise({name: np.mean(r["seeds"], axis=0) for name, r in ranks.items()}, suites),
    }
    write(out, figures)


if __name__ == "__main__":
    typer.run(main)
