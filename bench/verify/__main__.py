"""What the verifier says of written sentences: ``make bench-verify`` writes ``bench/results/verify.json``.

Usage: ``python -m bench.verify [--nli FOLDER] [--llm MODEL [--limit N]] [--out FILE]``. FOLDER holds a ``model.onnx``
labelled "entailment". MODEL is named as in ``DISCO_RAG_MODEL``; its replies are cached, so a stopped run is resumed.
Of the held-out pairs only those of ``heldout-score.jsonl`` are measured.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from bench import report
from bench.stats import auc, estimate
from bench.verify.pairs import FOLDER, Hostile, Pair, load_hostile, load_pairs
from discorag.config import RerankerSettings, Settings
from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.encoder import PackagedEncoder
from discorag.models.gateway import Gateway
from discorag.models.memo import MemoEncoder
from discorag.models.nli import ENTAILMENT, NliModel
from discorag.models.protocol import Encoder, LanguageModel
from discorag.models.reranker import reranker_from
from discorag.models.tokens import PackagedTokens
from discorag.schema.answer import PROBLEMS, AnswerInputs, Support
from discorag.schema.document import Document, Scope
from discorag.schema.errors import ModelError
from discorag.text.terms import terms
from discorag.verification.claims import Judge
from discorag.verification.judges import LlmJudge, NliJudge
from discorag.verification.tracing import TracingVerifier
from prompts import load

OUT = Path("bench/results/verify.json")
WORST_FIRST = (Support.CHECK, Support.NOT_SUPPORTED, Support.CITED, Support.SUPPORTED, Support.QUOTED)


async def state_of(verifier: TracingVerifier, documents: Mapping[str, str], draft: str) -> Support:
    """Return the state of a draft without citations over these documents: that of its worst sentence."""
    loaded = [Document(uri=name, title=name, text=text) for name, text in documents.items()]
    counter = PackagedTokens()
    chunks = tuple(
        chunk
        for d in loaded
        for chunk in cut_chunks(d, build_hierarchy(d), scope=Scope(), fingerprint="bench", counter=counter)
    )
    checked = (await verifier.verify(AnswerInputs(query="", chunks=chunks), draft)).value
    return min((sentence.support for sentence in checked.sentences), key=WORST_FIRST.index)


async def _states(verifier: TracingVerifier, cases: Sequence[Hostile | Pair]) -> dict[str, Any]:
    """How many sentences have which state, and what a reader sees of each kind of sentence.

    ``failed``: the model's reply was no verdict. ``kinds``: how many are shown as a problem, and how many without a
    mark.
    """
    counts, failed = Counter[Support](), 0
    kinds: dict[str, dict[str, int]] = {}
    for case in cases:
        documents = case.documents if isinstance(case, Hostile) else {"d": case.evidence}
        try:
            state = await state_of(verifier, documents, case.sentence)
        except ModelError:
            failed += 1
            continue
        counts[state] += 1
        kind = kinds.setdefault(
            case.kind if isinstance(case, Hostile) else case.edit, {"n": 0, "marked": 0, "unmarked": 0}
        )
        kind["n"] += 1
        kind["marked" if state in PROBLEMS else "unmarked"] += 1
    found = {"n": len(cases), "failed": failed} | {state.replace(" ", "_"): counts[state] for state in Support}
    return {**found, "kinds": dict(sorted(kinds.items()))}


async def _rank(encoder: Encoder, nli: NliModel | None, pairs: Sequence[Pair]) -> dict[str, Any]:
    """AUC of each score that could decide instead: supported pairs against the others."""
    sentences = await encoder.encode_documents([p.sentence for p in pairs])
    evidence = await encoder.encode_documents([p.evidence for p in pairs])
    scores = {"overlap": np.array([_overlap(p) for p in pairs]), "cosine": (sentences * evidence).sum(axis=1)}
    if nli:
        scores["nli"] = (await nli.probabilities([(p.evidence, p.sentence) for p in pairs]))[:, ENTAILMENT]
    supported = np.array([p.supported for p in pairs])
    return {name: estimate(auc, s[supported], s[~supported], digits=3) for name, s in scores.items()}


def _spread(cases: Sequence[Hostile | Pair], count: int | None) -> Sequence[Hostile | Pair]:
    """At most ``count`` of the cases, at even distances."""
    return cases if count is None or count >= len(cases) else [cases[i * len(cases) // count] for i in range(count)]


def _overlap(pair: Pair) -> float:
    """Share of the sentence's words that are in the evidence."""
    words = set(terms(pair.sentence))
    return len(words & set(terms(pair.evidence))) / max(1, len(words))


async def measure(nli: NliModel | None, llm: LanguageModel | None, limit: int | None) -> dict[str, Any]:
    """Return all figures; those under ``nli`` and ``llm`` only with such a model, ``llm`` over ``limit`` of a kind."""
    encoder, reranker = MemoEncoder(PackagedEncoder()), reranker_from(RerankerSettings())
    hostile = load_hostile(FOLDER / "hostile.jsonl")
    pairs = load_pairs(FOLDER / "heldout-score.jsonl")
    cases: dict[str, Sequence[Hostile | Pair]] = {
        "forged": [c for c in hostile if not c.supported],
        "true": [c for c in hostile if c.supported],
        "paraphrase": [p for p in pairs if p.supported],
        "edited": [p for p in pairs if not p.supported],
    }
    bare = TracingVerifier(encoder, reranker)
    found: dict[str, Any] = {name: await _states(bare, some) for name, some in cases.items()}
    judges: dict[str, tuple[str, Judge, int | None]] = {}
    if nli:
        judges["nli"] = (nli.version, NliJudge(nli), None)
    if llm:
        judges["llm"] = (llm.name, LlmJudge(llm, load("support")), limit)
    for name, (model, judge, count) in judges.items():
        verifier = TracingVerifier(encoder, reranker, judge)
        states = {kind: await _states(verifier, _spread(some, count)) for kind, some in cases.items()}
        found[name] = {"model": model} | states
    return {**found, "auc": await _rank(encoder, nli, pairs)}


def main(
    nli: Annotated[Path | None, typer.Option(help="Folder of an NLI model: model.onnx, tokenizer.json.")] = None,
    llm: Annotated[str | None, typer.Option(help="Language model: an endpoint's URL#NAME, or provider:name.")] = None,
    limit: Annotated[int | None, typer.Option(help="Sentences of each kind for the language model.")] = None,
    out: Annotated[Path, typer.Option(help="JSON file.")] = OUT,
) -> None:
    """Measure, write, show."""
    model = Gateway(Settings().llm.named(llm)) if llm else None
    found = asyncio.run(measure(NliModel(str(nli)) if nli else None, model, limit))
    Console().print(report.table(report.write(out, found).figures))


if __name__ == "__main__":
    typer.run(main)
