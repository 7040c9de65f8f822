"""SIGKILL in every stage of ingest and ask; at the end the store must be that of a run which nobody killed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from bench.trust.content import differing, missing
from bench.trust.pipeline import ASK, QUESTIONS, STAGES, look, start
from bench.trust.product import write_texts
from bench.trust.trial import Figures, Trial
from discorag.types.errors import InvariantError

DOCUMENTS = 8
_BRIEF_S = 0.005
"""How long a stage is taken to last before one was seen to end."""
_PATIENCE = 3
"""Kills may miss a stage that lasts milliseconds; at most so many times as many as are asked for are made."""


@dataclass
class Seen:
    """What the processes of one trial said.

    Args:
        stored: Documents whose upsert was left: they are there from then on.
        gone: Of these, those that were missing when the next process opened the store.
        lasted: Seconds that each stage took, as far as it ended.
    """

    stored: set[str] = field(default_factory=set[str])
    gone: list[str] = field(default_factory=list[str])
    lasted: dict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))

    def moment(self, stage: str, rng: random.Random) -> float:
        """Seconds after the beginning of a stage, at random within what it lasts."""
        return rng.uniform(0.0, fmean(self.lasted[stage]) if self.lasted[stage] else _BRIEF_S)


class Process:
    """One run of the pipeline, which may be killed in a stage."""

    def __init__(self, store: Path, folder: Path, parser: str, seen: Seen) -> None:
        self._process = start(store, folder, parser)
        self._seen = seen
        self._under_way: dict[tuple[str, str], float] = {}

    def killed(self, stage: str, nth: int, after: float) -> set[str] | None:
        """Kill it ``after`` seconds of the ``nth`` time that it enters ``stage``.

        Returns:
            The stages that it was in, None if it ended before. Raises `InvariantError` if it fails by itself.
        """
        assert self._process.stdout is not None
        for line in self._process.stdout:
            nth -= self._take(line) == ("enter", stage)
            if nth == 0:
                time.sleep(after)
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                break
        rest, said = self._process.communicate()
        for line in rest.splitlines():
            self._take(line)
        if self._process.returncode not in (0, -signal.SIGKILL):
            raise InvariantError(f"The pipeline failed by itself: {said[-2000:]}")
        return None if self._process.returncode == 0 else {name for name, _ in self._under_way}

    def _take(self, line: str) -> tuple[str, str]:
        """What a line says: the event and the stage."""
        event, *said = line.rstrip("\n").split("\t")
        if event == "there":
            self._seen.gone += sorted(self._seen.stored - set(json.loads(said[0])))
        elif event == "enter" and len(said) == 2:
            self._under_way[said[0], said[1]] = time.monotonic()
        elif event == "leave" and len(said) == 2:
            since = self._under_way.pop((said[0], said[1]))
            self._seen.lasted[said[0]].append(time.monotonic() - since)
            if said[0] == "upsert":
                self._seen.stored.add(said[1])
        return event, said[0] if said else ""


def run(trial: Trial, *, parser: str = "local", documents: int = DOCUMENTS) -> Figures:
    """``trial.count`` kills, an equal share in every stage; texts change whenever a run gets through."""
    rng, seen, within = random.Random(trial.seed), Seen(), Counter[str]()
    folder, store = trial.folder / "texts", trial.folder / "killed" / "store"
    store.parent.mkdir()
    kills = revision = 0
    write_texts(folder, documents)
    while _wanted(kills, within, trial.count):
        stage = min(STAGES, key=lambda name: within[name])
        nth = rng.randint(1, len(QUESTIONS) if stage == ASK else 3)
        found = Process(store, folder, parser, seen).killed(stage, nth, seen.moment(stage, rng))
        if found is None:
            revision += 1
            write_texts(folder, documents, revision)
            continue
        kills += 1
        within[stage] += stage in found
        trial.tick()
    return _compared(trial.folder, parser, seen) | {"kills": kills, "in_stage": dict(within), "revisions": revision}


def _wanted(kills: int, within: Counter[str], count: int) -> bool:
    share = count // len(STAGES)
    return kills < count or (any(within[s] < share for s in STAGES) and kills < _PATIENCE * count)


def _compared(folder: Path, parser: str, seen: Seen) -> Figures:
    """The killed store, once it got through, against one that nobody disturbed."""
    stores = [folder / name / "store" for name in ("killed", "whole")]
    stores[1].parent.mkdir()
    for store in stores:
        Process(store, folder / "texts", parser, seen if store is stores[0] else Seen()).killed("", -1, 0.0)
    killed, whole = (look(store).all() for store in stores)
    lost, other = missing(whole, killed), differing(whole, killed)
    return {
        "lost": len(lost) + len(seen.gone),
        "differing": len(other),
        "compared": len(whole),
        "lost_first": (seen.gone + lost)[:10],
        "differing_first": other[:10],
    }
