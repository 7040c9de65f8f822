"""A disk that fills up at random while the command line ingests and asks; then room is made and the same is run again.

The store is on a tmpfs of its own. What is already stored must stay readable, and after the second run everything must
be as in a store whose disk was never full. Needs root, to mount.
"""

import os
import random
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Self

from bench.product import Ended, command, write_texts
from bench.promises import Figures, Trial
from bench.trust.content import Content, differing, missing, read
from bench.trust.damages import Intact, copy_store
from bench.trust.pipeline import QUESTIONS, look
from discorag.schema.errors import InvariantError

MEGABYTES = (300, 1200)
DOCUMENTS = 6
BEFORE = 3
"""Documents that are stored before the disk fills up, in every other trial."""
_ROOM = "2g"
_EVERY_S = 0.2
_PARTS = (0.5, 0.8, 0.95, 1.0)
_GROWTH = 40_000_000
"""Bytes in `_EVERY_S`: as fast as an ordinary disk can be filled (200 MB/s)."""


@contextmanager
def small_disk(at: Path, megabytes: int) -> Generator[Path]:
    """A file system of this size."""
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


class Filler:
    """A file on the disk that grows and shrinks at random between ``with`` and its end, which removes it."""

    def __init__(self, disk: Path, rng: random.Random) -> None:
        self._file, self._rng, self._over = disk / "filler", rng, Event()
        self._part = rng.choice(_PARTS)
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._fill()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._file.unlink(missing_ok=True)

    def _run(self) -> None:
        while not self._over.wait(_EVERY_S):
            self._fill()

    def _fill(self) -> None:
        """A step towards a random part of what is free, which may be all; then towards another."""
        self._file.touch()
        taken = self._file.stat().st_blocks * 512
        disk = os.statvfs(self._file)
        size = min(int((taken + disk.f_bavail * disk.f_frsize) * self._part), taken + _GROWTH)
        if size < taken + _GROWTH:
            self._part = self._rng.choice(_PARTS)
        with self._file.open("r+b") as file:
            file.truncate(size)
            with suppress(OSError):  # the product was faster: the disk is full all the same
                os.posix_fallocate(file.fileno(), 0, max(1, size))


def run(trial: Trial, *, documents: int = DOCUMENTS) -> Figures:
    """``trial.count`` disks; each one ingest and one question while it fills up, and again with room."""
    rng, folder = random.Random(trial.seed), trial.folder / "texts"
    write_texts(folder, documents)
    reference, reading = _create_reference(trial.folder / "reference", folder), trial.folder / "reading.json"
    reading.write_text(look(copy_store(reference, trial.folder / "seen")).reading.model_dump_json(), encoding="utf-8")
    whole = Intact.of(reference, reading).content
    codes, crashes, lost = Counter[str](), list[str](), list[str]()
    for number in range(trial.count):
        with small_disk(trial.folder / f"disk-{number}", rng.randint(*MEGABYTES)) as disk:
            ended = _first(disk, folder) if number % 2 else {}
            write_texts(folder, documents)
            ended |= _filled(disk, folder, rng)
            codes.update(f"{name} {e.code}" for name, e in ended.items())
            crashes += [f"{name}: {e.code} {e.err[-300:]}" for name, e in ended.items() if e.crashed]
            lost += _after(disk, folder, reading, whole)
        trial.tick()
    return {
        "crashes": len(crashes),
        "lost": len(lost),
        "codes": dict(codes),
        "crashes_first": crashes[:5],
        "lost_first": lost[:10],
    }


def _first(disk: Path, folder: Path) -> dict[str, Ended]:
    """Some documents are stored while there is room."""
    subprocess.run(["mount", "-o", f"remount,size={MEGABYTES[1]}m", str(disk)], check=True)
    for file in sorted(folder.iterdir())[BEFORE:]:
        file.unlink()
    return {"first ingest": _ingest(_store_on(disk), folder)}


def _filled(disk: Path, folder: Path, rng: random.Random) -> dict[str, Ended]:
    """How the commands ended while there was no room."""
    store = _store_on(disk)
    with Filler(disk, rng):
        return {
            "ingest": _ingest(store, folder),
            "ask": command(store, "ask", QUESTIONS[0], "--json"),
        }


def _ingest(store: Path, folder: Path) -> Ended:
    return command(store, "ingest", str(folder), "--parser", "rules")


def _store_on(disk: Path) -> Path:
    (disk / "home").mkdir(exist_ok=True)
    return disk / "home" / "store"


def _after(disk: Path, folder: Path, reading: Path, whole: Content) -> list[str]:
    """What is not there or not alike when there is room and the command was run again."""
    store = _store_on(disk)
    subprocess.run(["mount", "-o", f"remount,size={_ROOM}", str(disk)], check=True)
    again = _ingest(store, folder)
    if again.code:
        return [f"the same command ended with {again.code}: {again.err[-300:]}"]
    got = read(store, reading)
    if isinstance(got, Ended):
        return [f"the store cannot be read: {got.err[-300:]}"]
    return missing(whole, got) + differing(whole, got)


def _create_reference(home: Path, folder: Path) -> Path:
    """A store with the folder, by the command line."""
    home.mkdir()
    done = _ingest(home / "store", folder)
    if done.code:
        raise InvariantError(f"The reference was not made: {done.err[-2000:]}")
    return home / "store"
