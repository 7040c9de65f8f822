"""Which parts of a structure are changed."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def count(n: int, rate: float, least: int = 1) -> int:
    """How many of ``n``: the rate's share, but ``least`` where there are so many and the rate is not 0."""
    return min(n, max(round(rate * n), least if rate else 0))


def draw(n: int, random: Random, rate: float) -> set[int]:
    """Positions of ``n`` that are to be changed."""
    return set(random.sample(range(n), count(n, rate)))


def others(values: Sequence[T], value: T) -> list[T]:
    """The values without this one."""
    return [v for v in values if v != value]
