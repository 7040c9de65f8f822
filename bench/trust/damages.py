"""Damage to the index and to the database: whatever is read differently must be reported.

A damaged index must not show at all. A damaged database may be refused, or its check may fail; nothing that differs
may be read as if it were right.
"""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Self

from bench.product import Ended, command, environment, write_texts
from bench.promises import Figures, Trial
from bench.trust.content import Content, differing, missing, read
from bench.trust.pipeline import look, start
from discorag.config import StoreSettings
from discorag.schema.errors import InvariantError
from discorag.store.backup import backup
from discorag.store.store import open_store

DOCUMENTS = 10
PAGE = 4096
DATABASE = "documents.sqlite"
Mode = Callable[[Path, random.Random], None]


def flip(file: Path, rng: random.Random) -> None:
    """Sixteen bytes changed, where something is: files are allocated ahead."""
    data = bytearray(file.read_bytes())
    used = [at for at in range(0, len(data), 64) if any(data[at : at + 64])] or [0]
    for at in rng.sample(used, min(16, len(used))):
        data[min(at + rng.randrange(64), len(data) - 1)] ^= rng.randrange(1, 256)
    file.write_bytes(data)


def zero(file: Path, rng: random.Random) -> None:
    """A page of zeros, where something was."""
    data = bytearray(file.read_bytes())
    used = [at for at in range(0, len(data), PAGE) if any(data[at : at + PAGE])] or [0]
    at = rng.choice(used)
    data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))
    file.write_bytes(data)


def halve(file: Path, _: random.Random) -> None:
    """The first half only."""
    with file.open("r+b") as content:
        content.truncate(file.stat().st_size // 2)


def swap(file: Path, rng: random.Random) -> None:
    """Two pages in each other's place."""
    data = bytearray(file.read_bytes())
    pages = [at for at in range(PAGE, len(data) - PAGE + 1, PAGE) if any(data[at : at + PAGE])]
    if len(pages) < 2:
        flip(file, rng)
        return
    a, b = rng.sample(pages, 2)
    data[a : a + PAGE], data[b : b + PAGE] = data[b : b + PAGE], data[a : a + PAGE]
    file.write_bytes(data)


def delete(file: Path, _: random.Random) -> None:
    """No file."""
    file.unlink()


def without_rows(file: Path, rng: random.Random) -> None:
    """Some rows of a table less."""
    table = rng.choice(("documents", "contents", "chunks", "trees"))
    with closing(sqlite3.connect(file)) as rows, rows:
        rows.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} ORDER BY random() LIMIT 1)")


MODES: dict[str, Mode] = {"flip": flip, "halve": halve, "delete": delete, "zero": zero, "swap": swap}
OF_DATABASE: dict[str, Mode] = {"flip": flip, "zero": zero, "swap": swap, "halve": halve, "rows": without_rows}


def copy_store(store: Path, to: Path) -> Path:
    """Copy it, sparsely: files are allocated ahead."""
    subprocess.run(["cp", "-r", "--sparse=always", str(store), str(to)], check=True)
    return to


@dataclass(frozen=True)
class Intact:
    """A closed store of some texts with their trees, how it is searched, and what it holds."""

    store: Path
    reading: Path
    content: Content

    @classmethod
    def of(cls, store: Path, reading: Path) -> Self:
        """A store that was made. Raises `InvariantError` if it cannot be read."""
        found = read(store, reading)
        if isinstance(found, Ended):
            raise InvariantError(f"The intact store cannot be read: {found.err[-2000:]}")
        return cls(store, reading, found)

    @classmethod
    def create(cls, folder: Path) -> Self:
        """A new one of `DOCUMENTS` texts."""
        store, reading = folder / "intact" / "store", folder / "reading.json"
        store.parent.mkdir(parents=True)
        write_texts(folder / "texts", DOCUMENTS)
        if code := start(store, folder / "texts", "local").wait():
            raise InvariantError(f"The store was not made: {code}.")
        reading.write_text(look(copy_store(store, folder / "seen")).reading.model_dump_json(), encoding="utf-8")
        return cls.of(store, reading)

    def differs(self, got: Content) -> list[str]:
        """What of the content is missing, different or new."""
        return missing(self.content, got) + differing(self.content, got)


def damage_index(intact: Intact, trial: Trial) -> Figures:
    """Damage a file of the index ``trial.count`` times, every second time while a process has the store open."""
    rng = random.Random(trial.seed)
    wrong, crashed, lost, reported = list[str](), list[str](), 0, 0
    modes = islice(cycle(MODES), trial.count)
    for number, name in enumerate(modes):
        store, running = copy_store(intact.store, intact.store.parent / "damaged"), bool(number % 2)
        file = rng.choice([p for p in sorted((store / "index").rglob("*")) if p.is_file() and p.stat().st_size])
        what = f"{name} {file.relative_to(store)}{' while open' if running else ''}"
        damage = partial(MODES[name], file, rng)
        if running:
            got = _read_twice(store, intact, damage)
        else:
            damage()
            got = read(store, intact.reading)
        if isinstance(got, Ended):
            crashed.append(f"{what}: {got.code} {got.err[-300:]}")
        elif differs := intact.differs(got):
            wrong.append(f"{what}: {differs[:3]}")
        after = read(store, intact.reading)
        lost += isinstance(after, Ended) or bool(intact.differs(after))
        reported += command(store, "check", "--json").code != 0
        shutil.rmtree(store)
        trial.tick()
    figures = {"wrong": len(wrong), "crashed": len(crashed), "lost": lost, "check_says_so": reported}
    return figures | {"wrong_were": wrong[:10], "crashed_were": crashed[:10]}


def _read_twice(store: Path, intact: Intact, damage: Callable[[], None]) -> Content | Ended:
    """The second content of a process that reads a store, waits for the damage, and reads it again."""
    line = [sys.executable, "-m", "bench.trust.content", str(store), str(intact.reading), "again"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, env=environment(store), text=True, errors="replace", **pipes) as process:
        assert process.stdout
        assert process.stdin
        process.stdout.readline()
        damage()
        out, err = process.communicate("go\n")
    return Ended(process.returncode, out, err) if process.returncode else json.loads(out)


def damage_database(intact: Intact, trial: Trial) -> Figures:
    """Damage the database's file ``trial.count`` times; each time it is read, checked, and restored from a backup."""
    rng = random.Random(trial.seed)
    saved = trial.folder / "saved"
    with open_store(StoreSettings(path=intact.store)) as store:
        backup(store.database, saved)
    wrong, silent, crashed, unrestored = list[str](), list[str](), list[str](), 0
    harmless = 0
    for name in islice(cycle(OF_DATABASE), trial.count):
        damaged = copy_store(intact.store, intact.store.parent / "damaged")
        OF_DATABASE[name](damaged / DATABASE, rng)
        check, got = command(damaged, "check", "--json"), read(damaged, intact.reading)
        crashed += [f"{name}: {e.code} {e.err[-300:]}" for e in (check, got) if isinstance(e, Ended) and e.crashed]
        if not isinstance(got, Ended):
            changed = [key for key in differing(intact.content, got) if not key.startswith("search")]
            wrong += [f"{name}: {changed[:3]}"] if changed else []
            silent += [f"{name}: {intact.differs(got)[:3]}"] if intact.differs(got) and not check.code else []
            harmless += not intact.differs(got)
        shutil.rmtree(damaged)
        done = command(damaged, "restore", str(saved))
        unrestored += bool(done.code) or read(damaged, intact.reading) != intact.content
        shutil.rmtree(damaged)
        trial.tick()
    figures = {"wrong": len(wrong), "silent": len(silent), "crashed": len(crashed), "unrestored": unrestored}
    return figures | {"harmless": harmless, "were": [*wrong, *silent, *crashed][:15]}
