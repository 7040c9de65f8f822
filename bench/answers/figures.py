"""The figures of each key, from the outcomes of its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from bench.answers.scores import SIMPLE, Outcome, Outcomes
from bench.answers.sets import KEYS, PARAGRAPHS, TALES
from bench.answers.stats import RESAMPLES, SEED, Floats, auc, estimate, mean, pooled_f1, refused_at, two_samples

Figures = dict[str, Any]
Runs = Mapping[str, Outcomes]
SYSTEMS = ("product", "product_refusing", *SIMPLE)
AGAINST = ("reranker", "bm25")
"""Baselines to which the product's difference is given."""


def figures(runs: Runs) -> dict[str, Figures]:
    """The figures of all keys whose runs are complete; those of ``lint`` are added elsewhere."""
    makers: Mapping[str, Callable[[Runs], Figures]] = {
        "first_sentence": partial(ranking, KEYS["first_sentence"], "first", 100, 2),
        "f1": partial(ranking, KEYS["f1"], "f1", 1, 3),
        "clapnq": lambda runs: refusal([*runs["clapnq/own"].values()], (0.10, 0.05)),
        "removed": removed,
        "mtrag_un": mtrag_un,
        "acl_verbatim": lambda runs: {"word_f1": word_f1([*runs["acl_verbatim/own"].values()])},
        "both_sides": lambda runs: both_sides([*runs["wikicontradict/own"].values()]),
        "asqa_str_em": asqa,
    }
    made = {key: make(runs) for key, make in makers.items() if all(runs.get(name) for name in KEYS[key])}
    answered = {name: o for outcomes in runs.values() for name, o in outcomes.items()}
    return made | {"spans_exact": spans_exact([*answered.values()])} if answered else made


def ranking(names: Sequence[str], field: str, scale: float, digits: int, runs: Runs) -> Figures:
    """The mean of a score of each system over the answerable questions of each run, and paired differences."""
    made: Figures = {}
    for name in names:
        found: list[dict[str, float]] = [s for o in runs[name].values() if (s := getattr(o, field))]
        columns = {system: [scale * s[system] for s in found] for system in SYSTEMS if system in found[0]}
        made[name.split("/")[0]] = {
            "n": len(found),
            **{system: mean(values, digits).model_dump() for system, values in columns.items()},
            **{
                f"product_less_{other}": mean(
                    [a - b for a, b in zip(columns["product"], columns[other], strict=True)], digits
                ).model_dump()
                for other in AGAINST
                if other in columns
            },
        }
    return made


def refusal(outcomes: Sequence[Outcome], allowed: Sequence[float]) -> Figures:
    """What is refused rightly and wrongly: by the product's decision, and by the best threshold on a score.

    ``refused_right`` is the share of the unanswerable questions that are refused, ``refused_wrong`` of the answerable.
    ``refused_right_at_10`` is the former at the highest threshold that refuses at most 10 % of the answerable ones.

    Args:
        outcomes: Of answerable and unanswerable questions.
        allowed: Shares of the answerable questions that may be refused.
    """
    yes, no = [o for o in outcomes if o.answerable], [o for o in outcomes if not o.answerable]
    made: Figures = {"answerable": len(yes), "unanswerable": len(no)}
    for name, part in (("refused_right", no), ("refused_wrong", yes)):
        made[name] = mean([o.refused for o in part]).model_dump() if part else None
    if not (yes and no):
        return made
    own = [np.array([o.probability for o in part], dtype=np.float64) for part in (yes, no)]  # None is NaN
    known = not any(np.isnan(scores).any() for scores in own)
    statistics = {"auc": auc} | {f"refused_right_at_{100 * a:02.0f}": partial(refused_at, allowed=a) for a in allowed}
    for name, statistic in statistics.items():
        made[name] = two_samples(statistic, *own).model_dump() if known else None
    names = [name for name in yes[0].scores if all(name in o.scores for o in outcomes)]
    made["simple"] = {name: _simple(name, yes, no, own if known else None, statistics) for name in names}
    return made


def _simple(
    score: str,
    yes: Sequence[Outcome],
    no: Sequence[Outcome],
    own: Sequence[Floats] | None,
    statistics: Mapping[str, Callable[[Floats, Floats], float]],
) -> Figures:
    """A baseline's score as a refusal, and what the product has over it on the same questions."""
    theirs = [np.array([o.scores[score] for o in part], dtype=np.float64) for part in (yes, no)]
    made: Figures = {name: two_samples(statistic, *theirs).model_dump() for name, statistic in statistics.items()}
    if own:
        both = [np.column_stack(pair) for pair in zip(own, theirs, strict=True)]
        for name, statistic in statistics.items():
            made[f"product_less_it_{name}"] = two_samples(partial(_gap, statistic), *both).model_dump()
    return made


def _gap(statistic: Callable[[Floats, Floats], float], positive: Floats, negative: Floats) -> float:
    return statistic(positive[:, 0], negative[:, 0]) - statistic(positive[:, 1], negative[:, 1])


def removed(runs: Runs) -> Figures:
    """The same questions with the documents that answer them, and without."""
    tales, paragraphs = ([o for name in names for o in runs[name].values()] for names in (TALES, PARAGRAPHS))
    parts = {"all": [*tales, *paragraphs], "fairytaleqa": tales, "hotpotqa": paragraphs}
    return {name: refusal(found, (0.10, 0.05)) for name, found in parts.items()}


def mtrag_un(runs: Runs) -> Figures:
    """Single questions, those that need their conversation, both; how many of the other two kinds are refused."""
    single, conversation = ([*runs[f"mtrag_un/{kind}"].values()] for kind in ("single", "conversation"))
    parts = {"single": single, "conversation": conversation, "all": [*single, *conversation]}
    made: Figures = {name: refusal(found, (0.12,)) for name, found in parts.items()}
    for kind in ("partial", "underspecified"):
        found = [o.refused for o in runs[f"mtrag_un/{kind}"].values()]
        made[kind] = {"n": len(found), "refused": mean(found).model_dump()}
    return made


def word_f1(outcomes: Sequence[Outcome]) -> Figures:
    """Words in evidence spans against words in gold spans, pooled over rows; the interval is over rows."""
    made: Figures = {"n": len(outcomes)}
    drawn = np.random.default_rng(SEED).integers(0, len(outcomes), (RESAMPLES, len(outcomes)))
    scored: dict[str, Floats] = {}
    for system in ("product", *SIMPLE):
        counts = np.array([o.words.get(system, (0, 0, 0)) for o in outcomes])
        precision, recall, f1 = pooled_f1(counts)
        scored[system] = np.array([f1, *(pooled_f1(counts[rows])[2] for rows in drawn)])
        made[system] = {"precision": round(precision, 4), "recall": round(recall, 4)} | estimate(
            f1, scored[system][1:]
        ).model_dump()
    gap = scored["product"] - scored["reranker"]
    return made | {"product_less_reranker": estimate(float(gap[0]), gap[1:]).model_dump()}


def both_sides(outcomes: Sequence[Outcome]) -> Figures:
    """Whether answers over two contradicting passages hold both statements, and report the conflict."""
    held = [o.sides.get("product", 0) for o in outcomes]
    return {
        "n": len(outcomes),
        "both": mean([h == 2 for h in held]).model_dump(),
        "one": held.count(1),
        "none": held.count(0),
        "refused": sum(o.refused for o in outcomes),
        "reported": sum(bool(o.conflicts) for o in outcomes),
        "bm25_each": mean([o.sides.get("bm25_each", 0) == 2 for o in outcomes]).model_dump(),
        **{name: mean([o.sides.get(name, 0) == 2 for o in outcomes]).model_dump() for name in SIMPLE},
    }


def false_reports(runs: Runs, marks: Mapping[str, bool]) -> Figures:
    """Answers in a hundred that report a conflict where there is none.

    Args:
        runs: Over documents that do not contradict each other, but for passages of Wikipedia (NQ).
        marks: Digest of a pair of NQ -> whether it is a conflict, marked by hand. One without a mark counts as false.
    """
    made: Figures = {}
    false: list[bool] = []
    for name in KEYS["false_reports"]:
        own = [
            any(not (name == "nq/own" and marks.get(pair, False)) for pair in o.conflicts) for o in runs[name].values()
        ]
        made[name] = {"answers": len(own), "false": sum(own)}
        false += own
    unmarked = sum(pair not in marks for o in runs["nq/own"].values() for pair in o.conflicts)
    per_hundred = mean([100.0 * f for f in false], 2).model_dump()
    return {
        "false_per_100_answers": per_hundred,
        "answers": len(false),
        "false": sum(false),
        "unmarked": unmarked,
    } | made


def spans_exact(outcomes: Sequence[Outcome]) -> Figures:
    """Evidence spans whose text equals the document's text."""
    return {"spans": sum(o.spans for o in outcomes), "exact": sum(o.exact for o in outcomes)}


def padding(runs: Runs) -> Figures | None:
    """Share of an answer's sentences of low calibrated relevance; None if the product gives no relevance."""
    found = [o for name in KEYS["lint"] for o in runs[name].values() if o.padding is not None]
    if not found:
        return None
    total, low = sum(o.sentences for o in found), sum(o.padding or 0 for o in found)
    return {"answers": len(found), "sentences": total, "low": low, "percent": round(100 * low / total, 1)}


def asqa(runs: Runs) -> Figures:
    """STR-EM with everything on, and as standard RAG."""
    full, standard = runs["asqa/full"], runs["asqa/standard"]
    columns = [[o.str_em or 0.0 for o in run.values()] for run in (full, standard)]
    lengths = [[o.length for o in run.values() if not o.refused] for run in (full, standard)]
    return {
        "n": len(full),
        "full": mean(columns[0], 2).model_dump(),
        "standard": mean(columns[1], 2).model_dump(),
        "full_less_standard": mean([a - b for a, b in zip(*columns, strict=True)], 2).model_dump(),
        "words": median(lengths[0] or [0]),
        "words_standard": median(lengths[1] or [0]),
        "refused": sum(o.refused for o in full.values()),
    }
