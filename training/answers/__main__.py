"""Fit what the reranker's logits mean: ``python -m training.answers DATA HOME``.

Evidence is collected once below HOME. Writes `discorag.generation.calibration.PACKAGED`, and prints what the decisions
are worth on held-out folds, next to fewer inputs.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from discorag.config import Settings
from discorag.generation.calibration import PACKAGED, Calibration, Logistic, absent_share
from discorag.generation.relevance import rank_sentences, read_evidence
from discorag.ingest.segment.sentence_table import SentenceTable, sentence_table
from discorag.models.encoder import PackagedEncoder
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.models.reranker import Reranker, reranker_from
from training.answers.collect import Example, collect

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

WRONG = 0.08
"""Share of the answerable questions that may be refused."""
PENALTY = 0.3
"""Inverse strength of the L2 penalty. It halves the weight of absent names: where a question's document was removed
from these sets, its name is missing too, more often than from a folder that does not answer."""
SURE = 0.5
RELEVANT = -5.0
"""The lowest logit from -8 to 3 whose F1 on HotpotQA and Natural Questions is within two points of the highest, if the
best sentence of the second best source is included from it."""
NARROWING = 0.5
GAPS = (5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
MOST = 5
FOLDS = 5
BY_NO_SENTENCE = ("qmsum",)
"""Datasets whose questions ask for a summary, which no single sentence answers: they say nothing about refusing."""
MOST_EXAMPLES = 130
"""Questions of each kind and dataset."""


@dataclass(frozen=True)
class Question:
    """What is fitted on.

    Args:
        dataset, group: See `eval.splits`.
        answerable: Whether its evidence answers it.
        inputs: What `Calibration.answers` reads.
        logits: The logits of the sentences that were read, best first.
        gold: Which of these are gold evidence.
        gold_count: Gold sentences in the evidence, read or not.
    """

    dataset: str
    group: str
    answerable: bool
    inputs: tuple[float, ...]
    logits: Floats
    gold: Bools
    gold_count: int


def read_examples(home: Path) -> Iterator[Example]:
    """The examples that `collect` left, at most `MOST_EXAMPLES` of a kind."""
    seen: dict[tuple[str, str, bool], int] = {}
    for file in sorted(home.glob("train-*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            example = Example.model_validate_json(line)
            kind = (example.dataset, example.setting, example.answerable)
            seen[kind] = seen.get(kind, 0) + 1
            if example.chunks and seen[kind] <= MOST_EXAMPLES:
                yield example


async def rank_question(example: Example, encoder: Encoder, reranker: Reranker) -> Question:
    """Rank the sentences of an example as the product does."""
    case, table = example.inputs, await sentence_table(example.chunks, encoder)
    query = await encoder.encode_query(example.query)
    relevance = await rank_sentences(case, table, query, reranker)
    logit = await read_evidence(case, table, relevance, reranker)
    gold = np.array([_is_gold(example, i, table) for i in range(len(table.sentences))], bool)
    return Question(
        dataset=example.dataset,
        group=f"{example.dataset}|{example.group}",
        answerable=example.answerable,
        inputs=(logit, absent_share(case)),
        logits=relevance.logits[relevance.ranked],
        gold=gold[relevance.ranked],
        gold_count=int((gold & np.array([u.statement for u in table.sentences], bool)).sum()),
    )


def _is_gold(example: Example, i: int, table: SentenceTable) -> bool:
    unit = table.sentences[i]
    spans = example.gold.get(example.chunks[unit.chunk - 1].doc_id, ())
    return any(unit.span.start < s.end and s.start < unit.span.end for s in spans)


def fit(questions: Sequence[Question], reranker: str) -> tuple[Calibration, Table]:
    """Fit both decisions.

    Returns:
        The calibration, and a table of its figures: AUC on held-out folds, F1 for each gap.
    """
    figures = Table("decision", "inputs", *(names := sorted({q.dataset for q in questions})))
    judged = [q for q in questions if q.dataset not in BY_NO_SENTENCE]
    inputs, labels = np.array([q.inputs for q in judged]), np.array([q.answerable for q in judged])
    weights = _weights(judged)
    for columns in ((0,), (1,), (0, 1)):
        held_out = _held_out(inputs[:, columns], labels, weights, judged)
        figures.add_row("answers: AUC", str(columns), *_by_dataset(judged, names, held_out, labels))
    held_out = _held_out(inputs, labels, weights, judged)
    refusing = np.quantile(held_out[labels], WRONG, weights=weights[labels], method="inverted_cdf")
    f1 = {gap: _f1_by_dataset([q for q in questions if q.answerable and q.gold.any()], gap) for gap in GAPS}
    for gap, means in f1.items():
        figures.add_row("F1", f"gap {gap}", *(f"{means[name]:.3f}" if name in means else "" for name in names))
    calibration = Calibration(
        fitted_on={"reranker": reranker},
        answers=_logistic(inputs, labels, weights, float(refusing)),
        sure=SURE,
        narrowing=NARROWING,
        gap=max(f1, key=lambda gap: float(np.mean([*f1[gap].values()]))),
        relevant=RELEVANT,
    )
    return calibration, figures


def _f1_by_dataset(questions: Sequence[Question], gap: float) -> dict[str, float]:
    """Mean F1 of the sentences that `Calibration.lowest` includes with this gap."""
    found: dict[str, list[float]] = {}
    for question in questions:
        count = min(MOST, int((question.logits >= (1 + NARROWING) * question.logits[0] - gap).sum()) or 1)
        found.setdefault(question.dataset, []).append(_f1(question, count))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _f1(question: Question, count: int) -> float:
    """F1, 0 to 1, of the ``count`` best sentences against the gold ones."""
    return 2 * float(question.gold[:count].sum()) / (count + question.gold_count)


def _by_dataset(questions: Sequence[Question], names: Sequence[str], held_out: Floats, labels: Bools) -> list[str]:
    of = np.array([q.dataset for q in questions])
    return [f"{roc_auc_score(labels[of == n], held_out[of == n]):.3f}" if (of == n).any() else "" for n in names]


def _held_out(inputs: Floats, labels: Bools, weights: Floats, questions: Sequence[Question]) -> Floats:
    """The probability of each question by a model fitted without its group."""
    groups = [q.group for q in questions]
    folds, fitted_with = GroupKFold(FOLDS), {"sample_weight": weights}
    model = LogisticRegression(C=PENALTY, max_iter=5000)
    found = cross_val_predict(
        model, inputs, labels, groups=groups, cv=folds, params=fitted_with, method="predict_proba"
    )
    return np.asarray(found)[:, 1]


def _logistic(inputs: Floats, labels: Bools, weights: Floats, threshold: float) -> Logistic:
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit(inputs, labels, weights)
    coefficients, intercept = np.asarray(model.coef_).round(5), np.asarray(model.intercept_).round(5)
    return Logistic(weights=tuple(coefficients[0].tolist()), bias=float(intercept[0]), threshold=round(threshold, 4))


def _weights(questions: Sequence[Question]) -> Floats:
    """Each dataset counts by the root of its size; the mean weight is 1."""
    sizes = {name: sum(q.dataset == name for q in questions) for name in {q.dataset for q in questions}}
    raw = np.array([sizes[q.dataset] ** -0.5 for q in questions])
    return raw / raw.mean()


async def rank_all(examples: Sequence[Example], encoder: Encoder, reranker: Reranker) -> list[Question]:
    """`rank_question` of all, with a progress bar."""
    return [await rank_question(e, encoder, reranker) for e in track(examples, "rank") if e.chunks]


def main(
    data: Annotated[Path, typer.Argument(help="The benchmarks' data.")],
    home: Annotated[Path, typer.Argument(help="Folder of the evidence.")],
    out: Annotated[Path, typer.Option(help="File to write.")] = PACKAGED,
) -> None:
    """Collect evidence, rank it with the configured reranker, fit, write, show."""
    asyncio.run(collect(data, home))
    encoder, reranker = MemoEncoder(PackagedEncoder(), size=200_000), reranker_from(Settings().reranker)
    questions = asyncio.run(rank_all(list(read_examples(home)), encoder, reranker))
    calibration, figures = fit(questions, reranker.version)
    out.write_text(calibration.model_dump_json(indent=1) + "\n", "utf-8")
    Console().print(figures)


if __name__ == "__main__":
    typer.run(main)
