"""How many passages a question needs: ``python -m bench.evidence`` (``make bench-evidence``).

Of the best 40 chunks by hybrid search a rule over the reranker's logits keeps some. Each family of rules gets its
parameters on one half of the questions (the best recall of gold evidence at a mean number of passages) and is reported
on the other half, both ways round, next to a fixed number of passages whose mean is the same. ``wide`` is how well the
number of passages near the best logit tells questions that need many passages from those that need few.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from bench import report
from bench.evidence.candidates import Candidates, collect, open_backends
from bench.evidence.rules import FAMILIES, Rule
from bench.evidence.sets import SETS, load
from bench.stats import auc, estimate
from discorag.retrieval.width import CANDIDATES
from discorag.schema.values import digest
from eval.options import data_folder

OUT = Path("bench/results/evidence.json")
HOME = Path(".disco-rag/bench/evidence")
FIXED = (5, 10, 20, CANDIDATES)
NEEDED = (2, 3, 4, 5)
DISTANCES = (2.0, 4.0, 6.0, 8.0, 10.0)
"""Distances from the best logit that are compared."""
BUDGETS = (5, 10, 15, 20)
"""Mean numbers of passages at which rules are compared."""

Floats = NDArray[np.float64]


class Ranked:
    """A question's candidates in the order of the reranker, and what the first n of them hold."""

    def __init__(self, found: Candidates) -> None:
        self.name, sample = found.key
        self.half = int(digest(sample), 16) % 2
        logits = np.array(found.logits)
        order = np.argsort(-logits, kind="stable")
        self.logits = logits[order]
        self.recall = _first(found, order.tolist())
        self.unranked = _first(found, range(len(order)))
        self.needed = _needed(found)
        self.tokens = np.array([0, *np.cumsum(np.array(found.tokens)[order])])

    def at(self, curve: Floats, count: float) -> float:
        """The value of a curve at a number of passages, between two whole ones by interpolation."""
        return float(np.interp(count, np.arange(len(curve)), curve))

    def count(self, rule: Rule) -> int:
        """How many passages the rule keeps."""
        return min(rule(self.logits), len(self.logits))


def _first(found: Candidates, order: Sequence[int]) -> Floats:
    return np.array([found.recall(order[:n]) for n in range(len(order) + 1)])


def _needed(found: Candidates) -> int:
    """The fewest candidates that hold 95 % of the evidence that all of them hold, chosen one after the other."""
    rest, taken = list(range(len(found.logits))), list[int]()
    while found.recall(taken) < 0.95 * found.recall(range(len(found.logits))):
        taken.append(max(rest, key=lambda i: found.recall([*taken, i])))
        rest.remove(taken[-1])
    return len(taken)


def mean_over_sets(questions: Sequence[Ranked], value: Callable[[Ranked], float]) -> float:
    """The mean of the sets' means."""
    by_set: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        by_set[question.name].append(value(question))
    return float(np.mean([np.mean(values) for values in by_set.values()]))


def choose(rules: Mapping[str, Rule], questions: Sequence[Ranked], budget: float) -> str:
    """The rule with the best recall of those that keep at most ``budget`` passages in the mean."""

    def recall(name: str) -> float:
        return mean_over_sets(questions, lambda q: q.recall[q.count(rules[name])])

    counts = {name: mean_over_sets(questions, lambda q, r=rule: q.count(r)) for name, rule in rules.items()}
    return max((name for name, count in counts.items() if count <= budget), key=recall)


def compare(family: Mapping[str, Rule], questions: Sequence[Ranked], budget: float) -> dict[str, Any]:
    """A family of rules and a fixed number at the same mean, over the halves on which the rule was not chosen."""
    chosen, less = dict[int, str](), defaultdict[str, list[float]](list)
    kept: list[tuple[Ranked, int]] = []
    for half in (0, 1):
        chosen[half] = choose(family, [q for q in questions if q.half == half], budget)
        others, rule = [q for q in questions if q.half != half], family[chosen[half]]
        same = mean_over_sets(others, lambda q, r=rule: q.count(r))
        kept += [(q, q.count(rule)) for q in others]
        for q in others:
            less[q.name].append(q.recall[q.count(rule)] - q.at(q.recall, same))
    counts = {id(q): count for q, count in kept}
    asked = [q for q, _ in kept]
    return {
        "chosen": " / ".join(chosen.values()),
        "passages": round(mean_over_sets(asked, lambda q: counts[id(q)]), 1),
        "tokens": round(mean_over_sets(asked, lambda q: q.tokens[counts[id(q)]])),
        "recall": round(100 * mean_over_sets(asked, lambda q: q.recall[counts[id(q)]]), 1),
        "less_fixed": estimate(_mean_of_means, *(100 * np.array(v) for v in less.values()), digits=1),
        **{f"passages_{name}": _mean(counts[id(q)] for q in asked if q.name == name) for name in less},
    }


def _mean_of_means(*sets: Floats) -> float:
    return float(np.mean([np.mean(values) for values in sets]))


def tell_wide(questions: Sequence[Ranked]) -> dict[str, Any]:
    """How well the count of passages near the best tells who needs many: areas under the curve, for each distance."""

    def counts(distance: float, needs: Callable[[int], bool]) -> Floats:
        return np.array([(q.logits >= q.logits[0] - distance).sum() for q in questions if needs(q.needed)], float)

    return {
        f"needs_{least}": {
            f"within_{distance:g}": estimate(
                auc, counts(distance, lambda n, k=least: n >= k), counts(distance, lambda n, k=least: n < k), digits=2
            )
            for distance in DISTANCES
        }
        for least in NEEDED
    }


def _mean(values: Iterable[float]) -> float:
    return round(float(np.mean([*values])), 1)


def figures(questions: Sequence[Ranked]) -> dict[str, Any]:
    """Fixed numbers of passages, each set by itself and the mean over sets; and each family of rules at each budget."""
    names = dict.fromkeys(q.name for q in questions)
    rules = {f"{b}": {n: compare(f, questions, b) for n, f in FAMILIES.items()} for b in BUDGETS}
    found = [q for q in questions if q.needed]
    return {
        "n": {n: sum(q.name == n for q in questions) for n in names},
        "fixed": {f"{k}": best(questions, [*names], k) for k in FIXED},
        "rules": rules,
        "wide": tell_wide(found),
    }


def best(questions: Sequence[Ranked], names: Sequence[str], k: int) -> dict[str, Any]:
    """The best k passages: in the order of the search, reranked, and the difference question by question."""
    gains = [[100 * (q.at(q.recall, k) - q.at(q.unranked, k)) for q in questions if q.name == n] for n in names]
    return {
        "tokens": round(mean_over_sets(questions, lambda q: q.at(q.tokens, k))),
        "hybrid": round(100 * mean_over_sets(questions, lambda q: q.at(q.unranked, k)), 1),
        "reranked": round(100 * mean_over_sets(questions, lambda q: q.at(q.recall, k)), 1),
        "gain": estimate(_mean_of_means, *map(np.array, gains), digits=1),
        **{n: _mean(100 * q.at(q.recall, k) for q in questions if q.name == n) for n in names},
    }


def main(
    most: Annotated[int, typer.Option(help="Questions of a set, at most.")] = 40,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of the candidates, kept between runs.")] = HOME,
) -> None:
    """Measure, write, show."""
    questions: list[Ranked] = []
    with open_backends() as backends:
        for name in track(SETS, console=Console(stderr=True)):
            for asked in load(name, data_folder(), most):
                questions += map(Ranked, collect(name, asked, backends, home / "candidates.jsonl"))
    found = figures(questions)
    report.write(out, found)
    Console().print(report.table(found))


if __name__ == "__main__":
    typer.run(main)
