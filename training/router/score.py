"""The measures of a router's single actions (RDR² tables 3 and 4), as the authors' code computes them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from discorag.retrieval.routers.walk import Decision, Router
from discorag.schema.errors import ModelError
from training.router.examples import Example


@dataclass
class Scores:
    """Scores of one router; each list has a value from 0 to 1 for each example that it is about.

    ``answer``: the F1 of selected passages, where some should be. ``expand``: the precision of unfolded headings, where
    some should be. ``refuse``: whether nothing was chosen, where nothing should be. ``unreadable``: whether the reply
    could not be read; it chooses nothing.
    """

    answer: list[float] = field(default_factory=list[float])
    expand: list[float] = field(default_factory=list[float])
    refuse: list[float] = field(default_factory=list[float])
    unreadable: list[float] = field(default_factory=list[float])

    def add(self, gold: Decision, chosen: Decision | None) -> None:
        """One example; None is a reply that could not be read."""
        self.unreadable.append(float(chosen is None))
        chosen = chosen or Decision()
        right = len(set(gold.answer) & set(chosen.answer))
        if gold.answer:
            self.answer.append(2 * right / (len(gold.answer) + len(chosen.answer)))
        if gold.expand:
            self.expand.append(len(set(gold.expand) & set(chosen.expand)) / max(1, len(chosen.expand)))
        if not gold.answer and not gold.expand:
            self.refuse.append(float(not chosen.answer and not chosen.expand))

    def row(self) -> list[str]:
        """Percentages with the number of examples."""
        lists = (self.answer, self.expand, self.refuse, self.unreadable)
        return [f"{100 * fmean(values):.1f} ({len(values)})" if values else "–" for values in lists]


COLUMNS = ("ANS-F1", "EXP-PRE", "REF-ACC", "unreadable")


async def score(router: Router, examples: Sequence[Example]) -> Scores:
    """A router over examples."""
    scores = Scores()
    for example in examples:
        try:
            chosen = await router.decide(example.question, example.subtree)
        except ModelError:
            chosen = None
        scores.add(example.action, chosen)
    return scores
