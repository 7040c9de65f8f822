"""What the model of contradiction sees of a sentence and one place of the evidence: numbers, and which words differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discorag.conflicts.claims.alignment import Alignment, Floats, Text, aligned, text_of
from discorag.conflicts.claims.lexicon import NEGATORS
from discorag.conflicts.claims.quantities import quantities

GROUPS: dict[str, tuple[str, ...]] = {
    "words": ("covered", "least", "second_least", "unsaid", "lost", "length", "evidence_length"),
    "neighbours": ("around", "least_around", "around_nouns"),
    "order": ("turned", "disorder", "sentences", "breaks", "break_share", "bigrams"),
    "figures": ("figure_missing", "figures", "digits_missing", "figure_around"),
    "polarity": ("denied", "undenied"),
    "left_out": ("before", "inside", "behind", "own_start"),
}
"""Names of the numbers by what they are about, in the order of the columns."""
NAMES = tuple(name for names in GROUPS.values() for name in names)
_SAID = 0.6  # likeness from which a word counts as said
_RELATED = 0.15  # ... as standing in its place
_SAME = 0.9  # ... as the same word
_SCOPE = 3  # content words behind a negation that it denies
_BEFORE = 4  # words in front of a denied word among which the other text's negation is looked for
_NEAR = 3  # words from a word that is said within which a lost one tells something
_RARE = 0.6
_STEPS = (1, 5)  # how far on in the evidence the next content word usually stands


@dataclass(frozen=True)
class Seen:
    """A sentence beside one place.

    Args:
        numbers: Shape (`NAMES`,).
        cues: Which words differ: ``+word`` stands in the sentence only, ``-word`` in the evidence only, ``^word`` of
            these before all that the sentence says, ``a>b`` where one stands for the other.

    Example:
        >>> from discorag.conflicts.claims.features import seen
        >>> sorted(seen("It always rained.", "It often rained.").cues)
        ['+always', '-often', 'often>always']
    """

    numbers: Floats
    cues: frozenset[str]


def seen(sentence: str, evidence: str) -> Seen:
    """What the model sees of a sentence and its evidence."""
    said, there = text_of(sentence), text_of(evidence)
    to, back = aligned(said, there), aligned(there, said)
    numbers = [
        *_words(said, there, to, back),
        *_neighbours(said, to),
        *_order(said, there, to),
        *_figures(sentence, evidence, said, to),
        *_polarity(said, there, to, back),
        *_left_out(said, there, to, back),
    ]
    return Seen(np.array(numbers, np.float32), frozenset(_cues(said, there, to, back)))


def _words(said: Text, there: Text, to: Alignment, back: Alignment) -> list[float]:
    """How much of the sentence is said, what least; how much of the evidence's sentences is not taken over."""
    own = said.content & ~said.number
    best = np.sort(to.best[own]) if own.any() else np.ones(1, np.float32)
    region = there.content & np.isin(there.sentence, there.sentence[to.at[own]] if own.any() else [0])
    lost = float((1 - back.best[region]).mean()) if region.any() else 0.0
    weight = said.rare * own
    covered = float((to.best * weight).sum() / max(float(weight.sum()), 1e-6))
    lengths = (float(np.log1p(len(said.words))), float(np.log1p(len(there.words))))
    return [covered, float(best[0]), float(best[min(1, len(best) - 1)]), float((best < _SAID).mean()), lost, *lengths]


def _neighbours(said: Text, to: Alignment) -> list[float]:
    """How far words stand by the same words as in the evidence."""
    around, rare = to.around[said.content], to.around[said.content & (said.rare > _RARE)]
    if not len(around):
        return [1.0, 1.0, 1.0]
    return [float(around.mean()), float(around.min()), float(rare.mean()) if len(rare) else 1.0]


def _order(said: Text, there: Text, to: Alignment) -> list[float]:
    """How far the words come in the evidence's order, and next to each other."""
    at = to.at[said.content & (to.best > _SAID)]
    steps = np.diff(at)
    later = (at[:, None] - at[None, :])[np.triu_indices(len(at), 1)]
    breaks = float(((steps < _STEPS[0]) | (steps > _STEPS[1])).sum())
    same = (to.best >= _SAME) & ~said.mark
    pairs = same[1:] & same[:-1] & (np.diff(to.at) == 1)
    return [
        float((steps < 0).mean()) if len(steps) else 0.0,
        float((later > 0).mean()) if len(later) else 0.0,
        float(len(np.unique(there.sentence[at]))),
        breaks,
        breaks / max(1, len(steps)),
        float(pairs.sum() / max(1, len(pairs))),
    ]


def _figures(sentence: str, evidence: str, said: Text, to: Alignment) -> list[float]:
    """Quantities that the evidence does not state, and whether digits stand by the same words."""
    stated, missing = quantities(sentence), missing_figures(sentence, evidence)
    digits = float((to.best[said.number] < 1).sum())
    around = to.around[said.number]
    return [float(len(missing)), float(len(stated)), digits, float(around.min()) if len(around) else 1.0]


def missing_figures(sentence: str, evidence: str) -> list[str]:
    """The quantities of a sentence that the evidence does not state in any unit, as written."""
    theirs = quantities(evidence)
    return [q.text for q in quantities(sentence) if not any(q.same(other) for other in theirs)]


def _polarity(said: Text, there: Text, to: Alignment, back: Alignment) -> list[float]:
    """Negations of the sentence without one in the evidence, and the other way round."""
    return [_unmatched(said, there, to), _unmatched(there, said, back)]


def _unmatched(text: Text, other: Text, to: Alignment) -> float:
    """How many negations deny a word that the other text says without one."""
    return float(sum(_affirmed(i, text, other, to) for i in range(len(text.words)) if denies(text.lower[i])))


def _affirmed(i: int, text: Text, other: Text, to: Alignment) -> bool:
    behind = [j for j in range(i + 1, len(text.words)) if text.content[j] and text.sentence[j] == text.sentence[i]]
    heads = [int(to.at[j]) for j in behind[:_SCOPE] if to.best[j] > _SAID]
    near = [other.lower[k] for head in heads for k in range(max(0, head - _BEFORE), head)]
    return bool(heads) and not any(map(denies, near))


def denies(word: str) -> bool:
    """Whether a word in lower case is a negation."""
    return word in NEGATORS or word.endswith("n't")


def _left_out(said: Text, there: Text, to: Alignment, back: Alignment) -> list[float]:
    """Words of the sentence that says most, which are not taken over: before, between and behind those that are."""
    main, first, last = _main(there, to)
    lost = main & (back.best < _SAME) & ~there.mark
    place = np.arange(len(there.words))
    parts = (place < first, (place > first) & (place < last), place > last)
    begins = np.flatnonzero(said.content & (to.best > _SAID))
    return [*(float(np.log1p((lost & part).sum())) for part in parts), float(begins[0]) if len(begins) else 9.0]


def _main(there: Text, to: Alignment) -> tuple[NDArray[np.bool_], int, int]:
    """Which words are of the evidence's sentence that says most, and the first and the last that is said of it."""
    at = np.unique(to.at[to.best > _SAID])
    if not len(at):
        return np.zeros(len(there.words), bool), 0, 0
    main = there.sentence == np.bincount(there.sentence[at]).argmax()
    own = at[main[at]]
    return main, int(own[0]), int(own[-1])


def _cues(said: Text, there: Text, to: Alignment, back: Alignment) -> Iterator[str]:
    """The words that differ, names and figures left out: what they tell is learned."""
    for i in np.flatnonzero(_common(said) & (to.best < 1)):
        yield f"+{said.lower[i]}"
        if to.best[i] > _RELATED:
            yield f"{there.lower[to.at[i]]}>{said.lower[i]}"
    main, first, _ = _main(there, to)
    said_at = np.unique(to.at[to.best > _SAID])
    for j in np.flatnonzero(_common(there) & (back.best < 1) & main):
        if j < first:
            yield f"^{there.lower[j]}"
        if np.abs(said_at - j).min() <= _NEAR:
            yield f"-{there.lower[j]}"


def _common(text: Text) -> NDArray[np.bool_]:
    return ~(text.number | text.name | text.mark)
