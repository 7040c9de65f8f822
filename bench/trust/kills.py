"""SIGKILL of ingest and asks at random moments; at the end the store must be that of a run that was never killed."""

import os
import random
import time
from collections.abc import Mapping
from pathlib import Path
from signal import SIGKILL
from subprocess import TimeoutExpired

from bench.product import write_texts
from bench.promises import Figures, Trial
from bench.trust.content import differing, missing
from bench.trust.pipeline import look, start, wait_until_open
from discorag.config import StoreSettings
from discorag.schema.document import Scope
from discorag.schema.errors import InvariantError, NotFoundError
from discorag.store.store import open_store


def run(
    trial: Trial, *, parser: str = "local", documents: int = 8, settings: Mapping[str, str] | None = None
) -> Figures:
    """``trial.count`` kills; the texts change whenever a process gets through."""
    rng, texts, gone, revision = random.Random(trial.seed), trial.folder / "texts", set[str](), 0
    killed, whole = (trial.folder / name / "store" for name in ("killed", "whole"))
    for store in (killed, whole):
        store.parent.mkdir()
    write_texts(texts, documents)
    lasts, kills, stored = _seconds(whole, texts, parser, settings), 0, set[str]()
    while kills < trial.count:
        process = start(killed, texts, parser, settings)
        wait_until_open(process)
        try:
            if process.wait(rng.uniform(0.0, lasts)):
                raise InvariantError(f"The pipeline ended with {process.returncode}.")
            revision += 1
            write_texts(texts, documents, revision)
        except TimeoutExpired:
            os.killpg(process.pid, SIGKILL)
            process.wait()
            kills += 1
            trial.tick()
        before, stored = stored, _stored(killed)
        gone |= before - stored
    for store in (killed, whole):
        _seconds(store, texts, parser, settings)
    found, expected = look(killed, settings).everything(), look(whole, settings).everything()
    lost, other = [*gone, *missing(expected, found)], differing(expected, found)
    return {
        "lost": len(lost),
        "differing": len(other),
        "compared": len(expected),
        "revisions": revision,
        "were": (lost + other)[:10],
    }


def _seconds(store: Path, texts: Path, parser: str, settings: Mapping[str, str] | None) -> float:
    """How long the pipeline takes from the opening of the store to its end."""
    process = start(store, texts, parser, settings)
    wait_until_open(process)
    began = time.monotonic()
    if process.wait():
        raise InvariantError(f"The pipeline ended with {process.returncode}.")
    return time.monotonic() - began


def _stored(store: Path) -> set[str]:
    """The documents in it."""
    try:
        with open_store(StoreSettings(path=store)) as opened:
            return {manifest.uri for manifest in opened.manifests(Scope())}
    except NotFoundError:
        return set()
