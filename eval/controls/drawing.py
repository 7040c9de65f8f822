"""Which parts of a structure are changed."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import TypeVar

T = TypeVar("T")
P = TypeVar("P", bound=Hashable)
S = TypeVar("S")


def count(n: int, rate: float, least: int = 1) -> int:
    """How many of ``n``: the rate's share, but ``least`` where there are so many and the rate is not 0."""
    return min(n, max(round(rate * n), least if rate else 0))


def draw(n: int, random: Random, rate: float) -> set[int]:
    """Positions of ``n`` that are to be changed."""
    return set(random.sample(range(n), count(n, rate)))


def others(values: Sequence[T], value: T) -> list[T]:
    """The values without this one."""
    return [v for v in values if v != value]


def permute(places: Sequence[P], random: Random, move: Callable[[Mapping[P, P]], S], is_same: Callable[[S], bool]) -> S:
    """The structure that ``move`` makes if every place takes another's role, drawn at random.

    Args:
        places: What stands in the structure.
        random: Draws.
        move: The structure with each place replaced by the one that the mapping names.
        is_same: Whether a structure is the unchanged one.

    Returns:
        Another structure than the unchanged one, wherever the places can be exchanged so that it is another.
    """
    moved = move(dict(zip(places, random.sample(places, len(places)), strict=True)))
    if is_same(moved):
        # Exchanges of two make up every permutation: if none of them changes the structure, none does.
        exchanged = (move({**{p: p for p in places}, a: b, b: a}) for a, b in combinations(places, 2))
        moved = random.choice([found for found in exchanged if not is_same(found)] or [moved])
    return moved
