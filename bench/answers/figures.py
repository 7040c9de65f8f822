"""The figures of each key, from the outcomes of its runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.answers.lint import FAULTS
from bench.answers.scores import SIMPLE, Outcome, Outcomes
from bench.answers.sets import KEYS, PARAGRAPHS, TALES
from bench.stats import Floats, auc, estimate, mean, refused_at

Figures = dict[str, Any]
Runs = Mapping[str, Outcomes]
SYSTEMS = ("product", "product_refusing", *SIMPLE)
AGAINST = ("reranker", "bm25")
"""Baselines to which the product's difference is given."""


def figures(runs: Runs, marks: Mapping[str, bool]) -> dict[str, Figures]:
    """The figures of all keys whose runs are complete.

    Args:
        runs: Outcomes by the name of their run.
        marks: See `false_reports`.
    """
    makers: Mapping[str, Callable[[Runs], Figures]] = {
        "first_sentence": partial(ranking, KEYS["first_sentence"], "first", 100, 2),
        "f1": partial(ranking, KEYS["f1"], "f1", 1, 3),
        "clapnq": lambda runs: refusal([*runs["clapnq/own"].values()], (0.10, 0.05)),
        "removed": removed,
        "mtrag_un": mtrag_un,
        "acl_verbatim": lambda runs: {"word_f1": word_f1([*runs["acl_verbatim/own"].values()])},
        "both_sides": lambda runs: both_sides([*runs["wikicontradict/own"].values()]),
        "attributes": attributes,
        "false_reports": partial(false_reports, marks=marks),
        "lint": lint,
    }
    found = {key: make(runs) for key, make in makers.items() if all(runs.get(name) for name in KEYS[key])}
    outcomes = [o for of_run in runs.values() for o in of_run.values()]
    return found | {"spans_exact": {"spans": sum(o.spans for o in outcomes), "exact": sum(o.exact for o in outcomes)}}


def ranking(names: Sequence[str], field: str, scale: float, digits: int, runs: Runs) -> Figures:
    """The mean of a score of each system over the answerable questions of each run, and paired differences."""
    found: Figures = {}
    for name in names:
        scores: list[dict[str, float]] = [s for o in runs[name].values() if (s := getattr(o, field))]
        columns = {system: scale * np.array([s[system] for s in scores]) for system in SYSTEMS if system in scores[0]}
        found[name.split("/")[0]] = {
            "n": len(scores),
            **{system: mean(column, digits) for system, column in columns.items()},
            **{
                f"product_less_{other}": mean(columns["product"] - columns[other], digits)
                for other in AGAINST
                if other in columns
            },
        }
    return found


def refusal(outcomes: Sequence[Outcome], allowed: Sequence[float]) -> Figures:
    """What is refused rightly and wrongly: by the product's decision, and by the best threshold on a score.

    ``refused_right`` is the share of the unanswerable questions that are refused, ``refused_wrong`` of the answerable.
    ``refused_right_at_10`` is the former at the highest threshold that refuses at most 10 % of the answerable ones.

    Args:
        outcomes: Outcomes of answerable and unanswerable questions.
        allowed: Shares of the answerable questions that may be refused.
    """
    yes, no = [o for o in outcomes if o.answerable], [o for o in outcomes if not o.answerable]
    found: Figures = {"answerable": len(yes), "unanswerable": len(no)}
    for name, part in (("refused_right", no), ("refused_wrong", yes)):
        found[name] = mean([o.refused for o in part]) if part else None
    if not (yes and no):
        return found
    own = [np.array([o.probability for o in part], dtype=np.float64) for part in (yes, no)]  # None is NaN
    known = not any(np.isnan(scores).any() for scores in own)
    statistics = {"auc": auc} | {f"refused_right_at_{100 * a:02.0f}": partial(refused_at, allowed=a) for a in allowed}
    found |= {name: estimate(statistic, *own) if known else None for name, statistic in statistics.items()}
    found["simple"] = {}
    for score in (name for name in yes[0].scores if all(name in o.scores for o in outcomes)):
        theirs = [np.array([o.scores[score] for o in part]) for part in (yes, no)]
        simple = {name: estimate(statistic, *theirs) for name, statistic in statistics.items()}
        if known:
            both = [np.column_stack(pair) for pair in zip(own, theirs, strict=True)]
            for name, statistic in statistics.items():
                simple[f"product_less_it_{name}"] = estimate(partial(_gap, statistic), *both)
        found["simple"][score] = simple
    return found


def _gap(statistic: Callable[[Floats, Floats], float], positive: Floats, negative: Floats) -> float:
    """The statistic of the first column, less that of the second."""
    return statistic(positive[:, 0], negative[:, 0]) - statistic(positive[:, 1], negative[:, 1])


def removed(runs: Runs) -> Figures:
    """The same questions with the documents that answer them, and without."""
    tales, paragraphs = ([o for name in names for o in runs[name].values()] for names in (TALES, PARAGRAPHS))
    parts = {"all": [*tales, *paragraphs], "fairytaleqa": tales, "hotpotqa": paragraphs}
    return {name: refusal(found, (0.10, 0.05)) for name, found in parts.items()}


def attributes(runs: Runs) -> Figures:
    """Attributes that no passage mentions, and their answerable twins: the half to be looked at, the one kept apart."""
    found = [*runs["nq/attributes"].values()]
    half = len(found) // 2
    return {name: refusal(part, (0.10, 0.08)) for name, part in (("open", found[:half]), ("kept_apart", found[half:]))}


def mtrag_un(runs: Runs) -> Figures:
    """Single questions, those that need their conversation, both; how many of the other two kinds are refused."""
    single, conversation = ([*runs[f"mtrag_un/{kind}"].values()] for kind in ("single", "conversation"))
    parts = {"single": single, "conversation": conversation, "all": [*single, *conversation]}
    found: Figures = {name: refusal(part, (0.12,)) for name, part in parts.items()}
    for kind in ("partial", "underspecified"):
        refused = [o.refused for o in runs[f"mtrag_un/{kind}"].values()]
        found[kind] = {"n": len(refused), "refused": mean(refused)}
    return found


def word_f1(outcomes: Sequence[Outcome]) -> Figures:
    """Words in evidence spans against words in gold spans, pooled over rows; the interval is over rows."""
    counts = {name: np.array([o.words.get(name, (0, 0, 0)) for o in outcomes]) for name in ("product", *SIMPLE)}
    found: Figures = {"n": len(outcomes)}
    for name, of_system in counts.items():
        right, wrong, missed = map(int, of_system.sum(axis=0))
        rates = {"precision": right / max(1, right + wrong), "recall": right / max(1, right + missed)}
        found[name] = {key: round(rate, 4) for key, rate in rates.items()} | estimate(_pooled_f1, of_system)
    found["product_less_reranker"] = estimate(_f1_gap, np.hstack([counts["product"], counts["reranker"]]))
    return found


def _pooled_f1(counts: NDArray[np.int64]) -> float:
    """F1 of pooled counts of what was rightly, wrongly and not marked, shape (rows, 3)."""
    right, wrong, missed = map(float, counts.sum(axis=0))
    return 2 * right / max(1.0, 2 * right + wrong + missed)


def _f1_gap(counts: NDArray[np.int64]) -> float:
    """The F1 of the first three columns, less that of the others."""
    return _pooled_f1(counts[:, :3]) - _pooled_f1(counts[:, 3:])


def both_sides(outcomes: Sequence[Outcome]) -> Figures:
    """Whether answers over two contradicting passages hold both statements, and report the conflict."""
    held = [o.sides.get("product", 0) for o in outcomes]
    return {
        "n": len(outcomes),
        "both": mean([h == 2 for h in held]),
        "one": held.count(1),
        "none": held.count(0),
        "refused": sum(o.refused for o in outcomes),
        "reported": sum(bool(o.conflicts) for o in outcomes),
        **{name: mean([o.sides.get(name, 0) == 2 for o in outcomes]) for name in ("bm25_each", *SIMPLE)},
    }


def lint(runs: Runs) -> Figures:
    """How many of a hundred answers have each fault in at least one sentence: for each run, and for all."""
    parts = {name.split("/")[0]: [o.faults for o in runs[name].values() if not o.refused] for name in KEYS["lint"]}
    parts["all"] = [faults for part in parts.values() for faults in part]
    return {
        name: {"answers": len(part), **{fault: mean([100.0 * (fault in f) for f in part], 1) for fault in FAULTS}}
        for name, part in parts.items()
    }


def false_reports(runs: Runs, marks: Mapping[str, bool]) -> Figures:
    """Answers in a hundred that report a conflict where there is none.

    Args:
        runs: Over documents that do not contradict each other, but for passages of Wikipedia (NQ).
        marks: Digest of a pair of NQ -> whether it is a conflict, marked by hand. One without a mark counts as false.
    """
    found: Figures = {}
    false: list[bool] = []
    for name in KEYS["false_reports"]:
        own = [
            any(not (name == "nq/own" and marks.get(pair, False)) for pair in o.conflicts) for o in runs[name].values()
        ]
        found[name] = {"answers": len(own), "false": sum(own)}
        false += own
    return {
        "false_per_100_answers": mean([100.0 * f for f in false], 2),
        "answers": len(false),
        "false": sum(false),
        "unmarked": sum(pair not in marks for o in runs["nq/own"].values() for pair in o.conflicts),
        **found,
    }
