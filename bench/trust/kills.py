"""SIGKILL in every stage of ingest and ask; at the end the store must be that of a run which nobody killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from bench.trust.content import Content, differing, missing
from bench.trust.pipeline import ASK, QUESTIONS, STAGES, look, start
from bench.trust.product import write_texts
from bench.trust.trial import Figures, Trial
from discorag.schema.errors import InvariantError

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

    def __init__(self, started: subprocess.Popen[str], seen: Seen) -> None:
        self._process = started
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
        for line in self._process.stdout:  # what `communicate` would leave in the buffer is read too
            self._take(line)
        assert self._process.stderr is not None
        said = self._process.stderr.read()
        if self._process.wait() not in (0, -signal.SIGKILL):
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


@dataclass
class Killing:
    """A store whose pipeline is killed over and over, and what came of that.

    Args:
        folder: Holds the texts and the store.
        parser: Who makes the trees.
        documents: How many texts.
        settings: Of the processes, as for `bench.trust.product.environment`.
    """

    folder: Path
    parser: str = "local"
    documents: int = DOCUMENTS
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    seen: Seen = field(default_factory=Seen)
    within: Counter[str] = field(default_factory=Counter[str])
    kills: int = 0
    revision: int = 0

    @property
    def texts(self) -> Path:
        """What is ingested."""
        return self.folder / "texts"

    @property
    def store(self) -> Path:
        """What is killed."""
        return self.folder / "killed" / "store"

    def kill(self, stages: Sequence[str], rng: random.Random) -> bool:
        """Kill one process in the stage that was hit least; texts change if it gets through, which is False."""
        stage = min(stages, key=lambda name: self.within[name])
        nth = rng.randint(1, len(QUESTIONS) if stage == ASK else min(3, self.documents))
        process = Process(start(self.store, self.texts, self.parser, self.settings), self.seen)
        found = process.killed(stage, nth, self.seen.moment(stage, rng))
        if found is None:
            self.revision += 1
            write_texts(self.texts, self.documents, self.revision)
            return False
        self.kills += 1
        self.within[stage] += stage in found
        return True

    def begin(self) -> None:
        """Write the texts."""
        self.store.parent.mkdir()
        write_texts(self.texts, self.documents)

    def get_through(self, store: Path, seen: Seen) -> None:
        """Run the pipeline to its end."""
        Process(start(store, self.texts, self.parser, self.settings), seen).killed("", -1, 0.0)


def run(trial: Trial) -> Figures:
    """``trial.count`` kills, an equal share in every stage; then the store against one that nobody disturbed."""
    rng, killing = random.Random(trial.seed), Killing(trial.folder)
    killing.begin()
    while _wanted(killing, trial.count):
        if killing.kill(STAGES, rng):
            trial.tick()
    whole = trial.folder / "whole" / "store"
    whole.parent.mkdir()
    killing.get_through(killing.store, killing.seen)
    killing.get_through(whole, Seen())
    how = {"kills": killing.kills, "in_stage": dict(killing.within), "revisions": killing.revision}
    return compared(look(killing.store).all(), look(whole).all(), killing.seen) | how


def _wanted(killing: Killing, count: int) -> bool:
    share = count // len(STAGES)
    few = any(killing.within[stage] < share for stage in STAGES)
    return killing.kills < count or (few and killing.kills < _PATIENCE * count)


def compared(killed: Content, whole: Content, seen: Seen) -> Figures:
    """What the killed store has lost of the other, and what differs."""
    lost, other = missing(whole, killed), differing(whole, killed)
    return {
        "lost": len(lost) + len(seen.gone),
        "differing": len(other),
        "compared": len(whole),
        "lost_first": (seen.gone + lost)[:10],
        "differing_first": other[:10],
    }
