"""Changed plans (Disco-RAG, figure 4c), and what stands in the place of structure or evidence."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from eval.controls.drawing import count

T = TypeVar("T")
_FILLER = "Read the chunks with care before you write the answer. "


def shuffle_steps(steps: Sequence[T], random: Random, rate: float) -> list[T]:
    """Steps change places among each other, two at least."""
    places = random.sample(range(len(steps)), count(len(steps), rate, least=2))
    moved = dict(zip(places, [*places[1:], *places[:1]], strict=True))
    return [steps[moved.get(i, i)] for i in range(len(steps))]


def remove_steps(steps: Sequence[T], random: Random, rate: float) -> list[T]:
    """Steps are missing; one stays."""
    gone = random.sample(range(len(steps)), max(0, min(len(steps) - 1, count(len(steps), rate))))
    return [step for i, step in enumerate(steps) if i not in gone]


def fill(count_tokens: Callable[[str], int], tokens: int) -> str:
    """Text that says nothing about the question, ``tokens`` long by ``count_tokens``, to the next word."""
    words = (_FILLER * (tokens // 4 + 1)).split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high) // 2
        enough = count_tokens(" ".join(words[:middle])) >= tokens
        low, high = (low, middle) if enough else (middle + 1, high)
    return " ".join(words[:low])


def replace_hits(hits: Sequence[T], others: Sequence[T], random: Random, rate: float) -> list[T]:
    """Hits give their places to others, drawn at random (figure 3c)."""
    places = random.sample(range(len(hits)), min(len(others), count(len(hits), rate)))
    replaced = dict(zip(places, random.sample(others, len(places)), strict=True))
    return [replaced.get(i, hit) for i, hit in enumerate(hits)]
