"""Train the learned graph engine on GUM: ``python -m training.relations.train``. Two minutes on one core."""

# scikit-learn is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_recall_curve, roc_auc_score

from discorag.config import DATA_VARIABLE
from discorag.discourse.relate.learned import (
    ACROSS,
    FAMILIES,
    FIRST,
    NEITHER,
    SECOND,
    WEIGHTS,
    WITHIN,
    Inputs,
    Predicted,
    RelationModel,
    both_ways,
)
from discorag.discourse.relate.passages import Floats
from discorag.ingest.segment.sentence_table import within_window
from discorag.models.encoder import PackagedEncoder
from discorag.models.protocol import Encoder
from training.parser.gum import SHARED_GENRES, GumDocument, load_gum
from training.relations.pairs import Group, Pair, Sentences, groups_of

Ints = NDArray[np.int64]

PENALTY = 3e-3
"""Weight of the squared weights beside the mean loss; best of 1e-4 to 0.1 on GUM dev."""
_RARE = 0.5  # a family's examples weigh its frequency to the power of minus this
_UNKNOWN = -1
_ROUNDS = 1000


@dataclass(frozen=True)
class Examples:
    """Pairs seen as of one document and again as if of two, with what is known of them.

    Args:
        one: Inputs of the pairs in the order of the text.
        other: Of the pairs turned round.
        same: Whether the pair is seen as one document's, shape (n,).
        related: 1, 0, or -1 where it is not known, shape (n,).
        orientation: Likewise an orientation or -1.
        family: Likewise an index into `FAMILIES` or -1.
        document: Index of the group that it comes from.
        source: `Pair.source`.
    """

    one: Inputs
    other: Inputs
    same: NDArray[np.bool_]
    related: Ints
    orientation: Ints
    family: Ints
    document: Ints
    source: NDArray[np.str_]


def examples_of(groups: Sequence[Group]) -> Examples:
    """Every pair of the groups in every view that it has."""
    parts = [_examples(i, g) for i, g in enumerate(groups) if g.pairs]
    names = list(Examples.__dataclass_fields__)
    rest = [np.concatenate([getattr(p, n) for p in parts]) for n in names[2:]]
    return Examples(_joined([p.one for p in parts]), _joined([p.other for p in parts]), *rest)


def _joined(parts: Sequence[Inputs]) -> Inputs:
    return Inputs(np.concatenate([p.between for p in parts]), np.concatenate([p.full for p in parts]))


def _examples(document: int, group: Group) -> Examples:
    views = [(p, same) for p in group.pairs for same in _views(p)]
    first, second = np.array([(p.first, p.second) for p, _ in views], dtype=np.int64).T
    same = np.array([s for _, s in views])
    return Examples(
        *both_ways(group.passages, (first, second), same),
        same,
        np.array([_UNKNOWN if p.related is None else int(p.related) for p, _ in views]),
        np.array([_UNKNOWN if p.orientation is None else p.orientation for p, _ in views]),
        np.array([_UNKNOWN if p.family is None else FAMILIES.index(p.family) for p, _ in views]),
        np.full(len(views), document),
        np.array([p.source for p, _ in views]),
    )


def _views(pair: Pair) -> tuple[bool, ...]:
    return (False,) if pair.source == "neighbour" else (True, False)


def logistic(x: Floats, y: Ints, weights: Floats, *, penalty: float) -> tuple[Floats, Floats]:
    """Weights (outputs, inputs) and bias (outputs,) of a multinomial logistic regression on ``x`` as it is.

    Args:
        x: Shape (n, inputs).
        y: Classes, shape (n,); of two, one row comes back, the second class's odds.
        weights: Of the examples, shape (n,).
        penalty: Of the squared weights, per standard deviation of the inputs, beside the mean loss; 0: none.
    """
    mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-3)
    # Two classes have one row of weights here, which stands for two of half its size.
    strength = penalty * (1 if len(np.unique(y)) == 2 else 2)
    model = LogisticRegression(C=1 / strength if penalty else np.inf, max_iter=_ROUNDS)
    model.fit((x - mean) / scale, y, weights / weights.sum())
    coefficients = np.asarray(model.coef_) / scale
    return coefficients, np.asarray(model.intercept_) - coefficients @ mean


def fitted(examples: Examples) -> dict[str, Floats]:
    """The weights of `RelationModel`, not calibrated."""
    found: dict[str, list[tuple[Floats, Floats]]] = {n: [] for n in ("related", "orientation", "family")}
    for same in track((True, False), description="fitting"):
        seen = examples.same == same
        known = seen & (examples.related >= 0)
        found["related"].append(_fit("related", examples, known, examples.related, examples.related))
        known = seen & (examples.orientation >= 0)
        turned = np.array([SECOND, FIRST, NEITHER])[examples.orientation]
        found["orientation"].append(_fit("orientation", examples, known, examples.orientation, turned))
        known = seen & (examples.family >= 0)
        found["family"].append(_fit("family", examples, known, examples.family, examples.family))
    weights = {f"{n}.weight": np.stack([w for w, _ in f]) for n, f in found.items()}
    weights |= {f"{n}.bias": np.stack([b for _, b in f]) for n, f in found.items()}
    weights |= {"calibration": np.array([[1, 0], [1, 0]]), "thresholds": np.array([0.5, 0.5])}
    return {n: np.ascontiguousarray(v, dtype=np.float32) for n, v in weights.items()}


def _fit(name: str, examples: Examples, known: NDArray[np.bool_], gold: Ints, turned: Ints) -> tuple[Floats, Floats]:
    """Pairs of one document as they are, pairs of two in both orders."""
    one, other = (s.between if name == "related" else s.full for s in (examples.one, examples.other))
    again = known & ~examples.same
    y = np.concatenate([gold[known], turned[again]])
    rarity = np.maximum(np.bincount(y), 1) ** -(_RARE if name == "family" else 0.0)
    weights = rarity[y].astype(np.float32)
    return logistic(np.concatenate([one[known], other[again]]), y, weights, penalty=PENALTY)


def calibrated(weights: Mapping[str, Floats], dev: Examples) -> dict[str, Floats]:
    """``weights`` with Platt's slope and shift, and the thresholds of best F1, both from ``dev``."""
    model = RelationModel(weights)
    lines: list[Floats] = []
    for view in (WITHIN, ACROSS):
        known = (dev.same == (view == WITHIN)) & (dev.related >= 0)
        logits = model.logits(dev.one, dev.other, dev.same)[known]
        ones = np.ones(len(logits), dtype=np.float32)
        slope, shift = logistic(logits[:, None], dev.related[known], ones, penalty=0.0)
        lines.append(np.array([slope[0, 0], shift[0]], dtype=np.float32))
    found = {**weights, "calibration": np.stack(lines)}
    said = RelationModel(found).read(dev.one, dev.other, dev.same).related
    best = [
        _best_threshold(said[known], dev.related[known])
        for known in ((dev.same == same) & (dev.related >= 0) for same in (True, False))
    ]
    return {**found, "thresholds": np.array(best, dtype=np.float32)}


def _best_threshold(probabilities: Floats, gold: Ints) -> float:
    """The probability from which F1 is best."""
    precision, recall, thresholds = precision_recall_curve(gold, probabilities)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    return float(thresholds[f1[:-1].argmax()])


def summary(said: Predicted, part: Examples) -> dict[str, float]:
    """A few figures to choose by: AUC of relatedness, macro F1 of families, accuracy of direction, for each view."""
    found: dict[str, float] = {}
    for name, same in (("within", True), ("across", False)):
        seen = part.same == same
        known = seen & (part.related >= 0)
        found[f"related_auc_{name}"] = float(roc_auc_score(part.related[known], said.related[known]))
        known = seen & (part.family >= 0)
        found[f"family_macro_f1_{name}"] = float(
            f1_score(part.family[known], said.family[known].argmax(axis=1), average="macro")
        )
        known &= part.orientation < NEITHER
        right = said.orientation[known, :2].argmax(axis=1) == part.orientation[known]
        found[f"direction_accuracy_{name}"] = float(right.mean())
    return found


def encoded(documents: Sequence[GumDocument], encoder: Encoder) -> dict[str, Sentences]:
    """The documents' sentences with their vectors, cut to the encoder's window where they are longer."""
    found: dict[str, Sentences] = {}
    for document in track(documents, description="encoding"):
        texts = [document.text[s.start : s.end] for s in document.sentences]
        vectors = asyncio.run(encoder.encode_documents(within_window(texts, encoder)))
        found[document.id] = Sentences(tuple(texts), vectors)
    return found


def part_of(folder: Path, part: str, *, encoder: Encoder, shared: bool, seed: int) -> Examples:
    """The examples of ``train``, ``dev`` or ``test``; ``shared`` keeps to genres whose texts may be redistributed."""
    documents = load_gum(folder, part, genres=SHARED_GENRES if shared else None)
    return examples_of(groups_of(documents, encoded(documents, encoder), folder, seed=seed))


def main(
    gum: Annotated[Path | None, typer.Option(help="The corpus; default: gum/ in the folder of the datasets.")] = None,
    genres: Annotated[str, typer.Option(help="shared (texts that may be redistributed) or all.")] = "shared",
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = WEIGHTS,
    seed: int = 1,
) -> None:
    """Train, calibrate on the development part, write the weights."""
    folder = gum or Path(os.environ.get(DATA_VARIABLE, "../shared/data")) / "gum"
    encoder, shared, console = PackagedEncoder(), genres == "shared", Console()
    train, dev = (part_of(folder, p, encoder=encoder, shared=shared, seed=seed) for p in ("train", "dev"))
    weights = calibrated(fitted(train), dev)
    out.parent.mkdir(parents=True, exist_ok=True)
    save_file(weights, out)
    console.print(summary(RelationModel(weights).read(dev.one, dev.other, dev.same), dev))


if __name__ == "__main__":
    typer.run(main)
