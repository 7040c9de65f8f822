"""The metrics by name, as suites list them; ``name@N`` gives a budget of N words (documents: N chunks)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from discorag.schema.errors import ConfigError
from eval.errors import MetricUnavailableError
from eval.metrics.alce import Qampari
from eval.metrics.asqa import DISAMBIG, Reader
from eval.metrics.base import Metric, MetricModels
from eval.metrics.choice import Accuracy
from eval.metrics.conditional import ConditionalQaF1, ConditionsNamed
from eval.metrics.evidence import (
    DocumentRecall,
    EvidenceRankScore,
    EvidenceStrEm,
    EvidenceWords,
    GoldHit,
    PartRecall,
    SpanRecall,
)
from eval.metrics.grounding import GoldPrecision, GoldUsed, Supported
from eval.metrics.judge import Judged, LoongJudge
from eval.metrics.model_based import BertScore, ClaimRecall, SummacConv, SummacZs
from eval.metrics.overlap import Bleu, Meteor
from eval.metrics.qasper import DisRetrieval, QasperAnswerF1, QasperEvidenceF1
from eval.metrics.rouge import Rouge
from eval.metrics.sari import Sari
from eval.metrics.strings import SHORT_ANSWERS, AnswerWords, WrongAbsent

_PLAIN: tuple[Metric, ...] = (
    *SHORT_ANSWERS,
    WrongAbsent(),
    AnswerWords(),
    EvidenceRankScore(),
    EvidenceWords(),
    Rouge("rouge1"),
    Rouge("rouge2"),
    Rouge("rougeL"),
    Rouge("rougeLsum"),
    Bleu("bleu1"),
    Bleu("bleu4"),
    Qampari("qampari_precision"),
    Qampari("qampari_recall"),
    Qampari("qampari_recall5"),
    Qampari("qampari_f1_5"),
    Sari("sari"),
    Sari("sari_delete_f1"),
    QasperAnswerF1(),
    Accuracy(),
    ConditionalQaF1(),
    ConditionsNamed(),
    GoldUsed(),
    GoldUsed("gold_all_used", min),
    GoldPrecision(),
    Supported(),
)
PLAIN: Mapping[str, Metric] = {metric.name: metric for metric in _PLAIN}
BUDGETED: Mapping[str, Callable[[int], Metric]] = {
    "evidence_recall": SpanRecall,
    "gold_hit": GoldHit,
    "document_recall": DocumentRecall,
    "evidence_str_em": EvidenceStrEm,
    "evidence_str_em_hit": partial(EvidenceStrEm, stem="evidence_str_em_hit", over_points=min),
    "qasper_evidence_f1": QasperEvidenceF1,
    "disretrieval_f1": partial(DisRetrieval, stem="disretrieval_f1"),
    "disretrieval_recall": partial(DisRetrieval, stem="disretrieval_recall"),
    **{stem: partial(PartRecall, stem=stem) for stem in ("turn_recall", "section_recall", "fact_recall")},
}
OTHERS: Mapping[str, Callable[[MetricModels], Metric]] = {
    "bertscore": lambda models: BertScore(models.bertscore),
    "summac_zs": lambda models: SummacZs(models.summac),
    "summac_conv": lambda _: SummacConv(),
    "claim_recall": lambda models: ClaimRecall(models.summac),
    "meteor": lambda _: Meteor(),
}
"""Metrics that need a model, or files, which may not be there."""
NOT_COMPARABLE = "Judge scores come from our own wording of the judge prompt: not comparable with papers."
JUDGED = ("judge_score", "judge_perfect")


@dataclass(frozen=True)
class Metrics:
    """The metrics that can be computed, and why the others cannot.

    ``note`` says what a reader of the scores must know (a judge whose scores are not comparable).
    """

    ready: tuple[Metric, ...]
    missing: Mapping[str, str]
    note: str = ""


def build(names: Sequence[str], models: MetricModels) -> Metrics:
    """The named metrics over these models.

    Raises:
        ConfigError: A name is unknown, or lacks its budget.
    """
    ready: list[Metric] = []
    missing: dict[str, str] = {}
    judge, reader = cache(lambda: LoongJudge(models)), cache(lambda: Reader(models.reader))  # opened once, if asked for
    for name in names:
        try:
            ready.append(_one(name, models, judge, reader))
        except MetricUnavailableError as error:
            missing[name] = _public(str(error), models)
    own_wording = any(isinstance(metric, Judged) and not metric.judge.comparable for metric in ready)
    return Metrics(tuple(ready), missing, NOT_COMPARABLE if own_wording else "")


def _public(reason: str, models: MetricModels) -> str:
    """The reason without the path of a model's folder, only its name: it is published in ``run.json``."""
    for folder in models.folders.values():
        reason = reason.replace(str(folder), folder.name)
    return reason


def _one(name: str, models: MetricModels, judge: Callable[[], LoongJudge], reader: Callable[[], Reader]) -> Metric:
    if name in PLAIN:
        return PLAIN[name]
    if name in DISAMBIG:
        return DISAMBIG[name](reader())
    if name in JUDGED:
        return Judged(judge(), name)
    if name in OTHERS:
        return OTHERS[name](models)
    stem, _, budget = name.partition("@")
    if stem in BUDGETED and budget.isdigit() and int(budget) > 0:
        return BUDGETED[stem](int(budget))
    known = [*PLAIN, *DISAMBIG, *JUDGED, *OTHERS, *(f"{n}@N" for n in BUDGETED)]
    raise ConfigError(f"There is no metric {name!r}.", hint=f"There are {', '.join(known)}.")
