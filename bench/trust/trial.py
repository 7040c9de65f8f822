"""What every experiment is given, and what it gives back."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Figures: TypeAlias = dict[str, Any]
"""What came of an experiment, as JSON: its figures, and what explains them."""


@dataclass(frozen=True)
class Trial:
    """One run of one experiment.

    Args:
        folder: Of its own; it may leave there what it likes.
        count: How many kills, corruptions, jobs, requests, ...
        seed: Of what is random.
        tick: Called whenever one of them is done.
    """

    folder: Path
    count: int
    seed: int = 0
    tick: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Experiment:
    """One promise and how it is tried.

    Args:
        what: What is done, in a table's words.
        count: How often, in full.
        limits: Figure -> the largest value that keeps the promise.
        run: Does it.
        unavailable: Why it cannot be done on this machine; empty if it can.
    """

    what: str
    count: int
    limits: dict[str, float]
    run: Callable[[Trial], Figures]
    unavailable: Callable[[], str] = lambda: ""


def needs_root() -> str:
    """Why nothing can be mounted here."""
    return "" if os.geteuid() == 0 else "Only root can mount the small disk that is filled."
