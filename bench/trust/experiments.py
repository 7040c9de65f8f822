"""The experiments by name: what is done, how often, and what may come of it."""

from __future__ import annotations

from bench.trust import kills
from bench.trust.trial import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "kills": Experiment(
        what="SIGKILL in every stage of ingest and ask",
        count=40,
        limits={"lost": 0, "differing": 0},
        run=kills.run,
    ),
}
