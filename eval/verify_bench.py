"""A yardstick for the verifier: sentences beside their evidence, of which one small edit makes some unsupported.

The verifier is asked to find the unsupported sentences, so recall counts those that it flags, and a false alarm is a
supported sentence that it flags. The pairs and how they were made: ``bench/verify/README.md``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from rich.console import Console
from rich.table import Table

from discorag.models.encoder import PackagedEncoder
from discorag.models.protocol import Encoder
from discorag.rst.rules import RuleParser
from discorag.text.chunks import cut_chunks
from discorag.text.headings import build_hierarchy
from discorag.text.terms import terms
from discorag.types.case import Case
from discorag.types.document import Document, Scope
from discorag.verification.local import LocalVerifier
from eval.datasets.reading import checked, read_lines
from eval.errors import DataError

Edit = Literal["none", "number", "negation", "condition", "attribution", "entity", "time"]
FALSE_ALARM = 0.1  # share of supported sentences that a baseline may flag on the development half


class Pair(BaseModel):
    """One line of ``dev.jsonl`` or ``heldout.jsonl``: ``edit`` is what makes the sentence unsupported, or ``none``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    evidence: str = Field(min_length=1)
    sentence: str = Field(min_length=1)
    supported: bool
    edit: Edit
    genre: str = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.supported != (self.edit == "none"):
            raise ValueError(f"supported is {self.supported}, but edit is '{self.edit}'")
        return self


class Rate(BaseModel):
    """A share of ``n`` cases, 0 to 1, with its 95 % Wilson score interval (Wilson 1927)."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float
    n: int


class Scores(BaseModel):
    """What one detector flags.

    Args:
        recall: Share of the unsupported sentences that are flagged.
        false_alarm: Share of the supported sentences that are flagged.
        by_edit: Edit -> recall among the sentences with that edit.
    """

    model_config = ConfigDict(frozen=True)

    recall: Rate
    false_alarm: Rate
    by_edit: dict[str, Rate]


class BaselineScores(Scores):
    """A baseline flags a sentence whose similarity to its evidence is below ``threshold``."""

    threshold: float


class Half(Scores):
    """The verifier on one half of the pairs, ``n`` in all, beside the baselines."""

    n: int
    baselines: dict[str, BaselineScores]


def load_pairs(path: Path) -> list[Pair]:
    """The pairs of one half in file order.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, has a field too many or too few, contradicts itself or repeats an id; or all
            pairs are supported, or none.
    """
    pairs: dict[str, Pair] = {}
    for place, value in read_lines(path):
        pair = checked(Pair, value, place)
        if pair.id in pairs:
            raise DataError(f"{place}: id {pair.id} appears twice.", hint="Give each pair an id of its own.")
        pairs[pair.id] = pair
    if len({p.supported for p in pairs.values()}) < 2:
        raise DataError(
            f"{path} needs supported and unsupported pairs, and has {len(pairs)} of one kind.", hint="Is it whole?"
        )
    return list(pairs.values())


async def judge(pairs: Iterable[Pair], encoder: Encoder) -> list[bool]:
    """For each pair whether the verifier finds its sentence supported by its evidence.

    The evidence is the only source, cut and parsed as on ingest; the sentence is the whole draft, and cites it.

    Raises:
        ModelError: The encoder is an endpoint and fails.
    """
    verifier = LocalVerifier(encoder)
    return [await _supported(pair, verifier) for pair in pairs]


async def _supported(pair: Pair, verifier: LocalVerifier) -> bool:
    document = Document(uri=pair.id, title=pair.id, text=pair.evidence)
    hierarchy = build_hierarchy(document)
    cut = cut_chunks(document, hierarchy, scope=Scope(), fingerprint="bench", counter=verifier.encoder.tokens)
    chunks = tuple([c.model_copy(update={"tree": (await RuleParser().parse(c)).tree}) for c in cut])
    draft = f"{pair.sentence.removesuffix('.')} [1]."
    answer = await verifier.verify(Case(query=pair.sentence, chunks=chunks), draft)
    return bool(answer.sentences) and all(s.supported for s in answer.sentences)


async def cosine(pairs: Sequence[Pair], encoder: Encoder) -> list[float]:
    """Cosine of each sentence to its evidence, -1 to 1.

    Raises:
        InvariantError: A text is longer than the encoder's window.
    """
    sentences = await encoder.encode_documents([p.sentence for p in pairs])
    evidence = await encoder.encode_documents([p.evidence for p in pairs])
    return [float(s @ e) for s, e in zip(sentences, evidence, strict=True)]


def overlap(pairs: Iterable[Pair]) -> list[float]:
    """Share of each sentence's content words that are in its evidence, 0 to 1."""
    words = ((set(terms(p.sentence)), set(terms(p.evidence))) for p in pairs)
    return [len(said & source) / max(1, len(said)) for said, source in words]


def scores(pairs: Sequence[Pair], supported: Sequence[bool]) -> Scores:
    """Recall and false alarms of a detector that found ``supported[i]`` for ``pairs[i]``; both kinds must occur."""
    judged = list(zip(pairs, supported, strict=True))
    edits = dict.fromkeys(p.edit for p in pairs if not p.supported)
    return Scores(
        recall=_flagged(s for p, s in judged if not p.supported),
        false_alarm=_flagged(s for p, s in judged if p.supported),
        by_edit={edit: _flagged(s for p, s in judged if p.edit == edit) for edit in sorted(edits)},
    )


def _flagged(supported: Iterable[bool]) -> Rate:
    from scipy.stats import binomtest

    flags = [not s for s in supported]
    test = binomtest(sum(flags), len(flags))
    interval = test.proportion_ci(0.95, method="wilson")
    return Rate(value=test.statistic, low=interval.low, high=interval.high, n=len(flags))


def threshold(pairs: Sequence[Pair], similarities: Sequence[float]) -> float:
    """The threshold with the highest recall among those with at most `FALSE_ALARM` false alarms.

    Recall only grows with the threshold, so it is the highest one below which that share of the supported pairs lies.
    """
    of_supported = sorted(x for p, x in zip(pairs, similarities, strict=True) if p.supported)
    return of_supported[int(FALSE_ALARM * len(of_supported))]


async def measure(folder: Path, encoder: Encoder) -> dict[str, Half]:
    """The verifier and the baselines on both halves; thresholds are chosen on the development half.

    Raises:
        MissingPathError: ``dev.jsonl`` or ``heldout.jsonl`` is missing.
        DataError: A file is not well formed.
    """
    halves = {name: load_pairs(folder / f"{name}.jsonl") for name in ("dev", "heldout")}
    similarities = {name: {"cosine": await cosine(p, encoder), "overlap": overlap(p)} for name, p in halves.items()}
    thresholds = {name: threshold(halves["dev"], values) for name, values in similarities["dev"].items()}
    result: dict[str, Half] = {}
    for half, pairs in halves.items():
        baselines = {name: _baseline(pairs, similarities[half][name], at) for name, at in thresholds.items()}
        verifier = scores(pairs, await judge(pairs, encoder))
        result[half] = Half(**dict(verifier), n=len(pairs), baselines=baselines)
    return result


def _baseline(pairs: Sequence[Pair], similarities: Sequence[float], at: float) -> BaselineScores:
    return BaselineScores(**dict(scores(pairs, [x >= at for x in similarities])), threshold=at)


def run_bench(folder: Path, out_json: Path) -> dict[str, Any]:
    """Measure both halves in ``folder`` with the packaged encoder, print a table and write ``out_json``.

    Returns:
        What was written: the held-out half's ``recall``, ``false_alarm`` and ``baselines`` as plain shares, then
        ``dev`` and ``heldout`` with intervals, each with the fields of `Half`.

    Raises:
        MissingPathError: ``dev.jsonl`` or ``heldout.jsonl`` is missing.
        DataError: A file is not well formed.
    """
    halves = asyncio.run(measure(folder, PackagedEncoder()))
    result = {**_headline(halves["heldout"]), **{name: half.model_dump() for name, half in halves.items()}}
    out_json.parent.mkdir(parents=True, exist_ok=True)
    out_json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    Console(width=None if sys.stdout.isatty() else 160).print(table(halves))
    return result


def _headline(half: Half) -> dict[str, Any]:
    baselines = {k: {"recall": b.recall.value, "false_alarm": b.false_alarm.value} for k, b in half.baselines.items()}
    return {"recall": half.recall.value, "false_alarm": half.false_alarm.value, "baselines": baselines}


def table(halves: dict[str, Half]) -> Table:
    """One row for each detector and half: recall, false alarms, recall by edit, in percent."""
    edits = sorted({edit for half in halves.values() for edit in half.by_edit})
    shown = Table("half", "detector", "recall (95 %)", "false alarms (95 %)", *edits, title="Flagged as unsupported, %")
    for name, half in halves.items():
        for detector, found in {"verifier": half, **half.baselines}.items():
            by_edit = [f"{100 * found.by_edit[e].value:.0f}" if e in found.by_edit else "" for e in edits]
            shown.add_row(name, detector, _percent(found.recall), _percent(found.false_alarm), *by_edit)
    return shown


def _percent(rate: Rate) -> str:
    return f"{100 * rate.value:.0f} ({100 * rate.low:.0f}-{100 * rate.high:.0f})"
