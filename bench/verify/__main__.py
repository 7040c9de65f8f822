"""What the verifier says of written sentences: ``make bench-verify`` > ``bench/results/verify.json``.

Usage: ``python -m bench.verify [--nli FOLDER] [--out FILE]``. FOLDER holds a ``model.onnx`` labelled "entailment".
Of ``heldout.jsonl`` only the half ``score`` is measured; intervals are from 2,000 draws of its pairs.
"""

# scikit-learn is typed in part only.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from bench.answers.replies import package_version
from bench.verify.judged import judged, state_of
from bench.verify.pairs import FOLDER, Hostile, Pair, load_hostile, load_pairs
from discorag.config import RerankerSettings
from discorag.models.encoder import PackagedEncoder
from discorag.models.memo import MemoEncoder
from discorag.models.nli import ENTAILMENT, CrossEncoderNli, NliModel
from discorag.models.protocol import Encoder
from discorag.models.reranker import reranker_from
from discorag.schema.answer import Support
from discorag.text.terms import terms
from discorag.verification.judges import NliJudge
from discorag.verification.tracing import TracingVerifier

OUT = Path("bench/results/verify.json")
DRAWS = 2000
Floats = NDArray[np.float64]


def auc(supported: Sequence[bool], scores: Floats) -> dict[str, Any]:
    """Return the area under the ROC curve, and the middle 95 % of it over draws of the pairs."""
    labels, draws = np.array(supported), list[float]()
    generator = np.random.default_rng(0)
    while len(draws) < DRAWS:
        at = generator.integers(0, len(labels), len(labels))
        if 0 < labels[at].sum() < len(at):
            draws.append(float(roc_auc_score(labels[at], scores[at])))
    low, high = np.percentile(draws, [2.5, 97.5])
    return {"auc": round(float(roc_auc_score(labels, scores)), 3), "interval": [round(low, 3), round(high, 3)]}


async def _cosines(encoder: Encoder, pairs: Sequence[Pair]) -> Floats:
    sentences = await encoder.encode_documents([p.sentence for p in pairs])
    return (sentences * await encoder.encode_documents([p.evidence for p in pairs])).sum(axis=1).astype(float)


def _overlap(pair: Pair) -> float:
    """Share of the sentence's words that are in the evidence."""
    said = set(terms(pair.sentence))
    return len(said & set(terms(pair.evidence))) / max(1, len(said))


async def _ranked(encoder: Encoder, nli: NliModel | None, pairs: Sequence[Pair]) -> dict[str, Any]:
    """AUC of each score that could decide instead."""
    scores = {"overlap": np.array([_overlap(p) for p in pairs]), "cosine": await _cosines(encoder, pairs)}
    if nli:
        scores["nli"] = (await nli.probabilities([(p.evidence, p.sentence) for p in pairs]))[:, ENTAILMENT]
    return {name: auc([p.supported for p in pairs], found) for name, found in scores.items()}


async def _states(verifier: TracingVerifier, cases: Sequence[Hostile | Pair]) -> dict[str, Any]:
    """How many sentences have which state."""
    documents = [c.documents if isinstance(c, Hostile) else {"d": c.evidence} for c in cases]
    counts = Counter([state_of(await judged(verifier, d, c.sentence)) for c, d in zip(cases, documents, strict=True)])
    found = {"n": len(cases)} | {state.replace(" ", "_"): counts[state] for state in Support}
    return {**found, "not_supported_share": round(counts[Support.NOT_SUPPORTED] / len(cases), 3)}


async def measure(nli: NliModel | None) -> dict[str, Any]:
    """Return all figures; those under ``nli`` only with an NLI model."""
    encoder, reranker = MemoEncoder(PackagedEncoder()), reranker_from(RerankerSettings())
    hostile = load_hostile(FOLDER / "hostile.jsonl")
    half = [p for p in load_pairs(FOLDER / "heldout.jsonl") if p.half == "score"]
    asked: dict[str, Sequence[Hostile | Pair]] = {
        "forged": [c for c in hostile if not c.supported],
        "true": [c for c in hostile if c.supported],
        "paraphrase": [p for p in half if p.supported],
        "edited": [p for p in half if not p.supported],
    }
    bare = TracingVerifier(encoder, reranker)
    found: dict[str, Any] = {name: await _states(bare, cases) for name, cases in asked.items()}
    if nli:
        verifier = TracingVerifier(encoder, reranker, NliJudge(nli))
        judged_by = {name: await _states(verifier, cases) for name, cases in asked.items()}
        found["nli"] = {"model": nli.version, **judged_by}
    return {**found, "auc": await _ranked(encoder, nli, half)}


def main(
    nli: Annotated[Path | None, typer.Option(help="Folder of an NLI model: model.onnx, tokenizer.json.")] = None,
    out: Annotated[Path, typer.Option(help="JSON file.")] = OUT,
) -> None:
    """Measure and write."""
    found = asyncio.run(measure(CrossEncoderNli(str(nli)) if nli else None))
    out.write_text(json.dumps({"commit": package_version(), **found}, indent=1) + "\n", "utf-8")
    typer.echo(json.dumps({"commit": package_version(), **found}, indent=1))


if __name__ == "__main__":
    typer.run(main)
