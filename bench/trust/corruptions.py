"""Every kind of file of a closed store, damaged in turn: whatever is read differently must be told.

Three looks at each damage, every one at a copy of its own: what ``disco-rag check`` says, what opening and reading all
gives, and what is there after ``disco-rag repair``.

- ``silent``: opening and reading raised nothing, check (where there is one) found nothing, and what was read differs.
- ``harmless``: nothing was said and nothing differs.
- ``unrepaired``: of the damages that are not harmless, those after which repair, then check, did not both succeed and
  give back all that was read from the intact store; but for damages of `TEXTS`, which nothing could be made from
  again: these are ``texts_lost``.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from bench.trust.content import Content, differing, missing, read
from bench.trust.pipeline import look, start
from bench.trust.product import Ended, command, knows, write_texts
from bench.trust.trial import Figures, Trial
from discorag.types.errors import InvariantError

DOCUMENTS = 10
TEXTS = "archive.sqlite"
"""Beginning of the names of the files with the canonical texts."""
FIRST = "docs/segments/*/mutable_id_tracker.mappings"
"""Halved before all others: the store opened with half of its documents, and swept the others' chunks."""
_NAMES = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[a-z0-9]{24}|[0-9a-f]{32,64}")
"""Parts of paths that are made up: segments, indexes, digests."""
_BLOCK = 4096


def halve(data: bytes, _: random.Random) -> bytes:
    """The first half."""
    return data[: len(data) // 2]


def flip(data: bytes, rng: random.Random) -> bytes:
    """Sixteen bytes changed, where there are any that are not zero: files are allocated ahead."""
    used = _used(data) or [*range(len(data))]
    changed = bytearray(data)
    for at in rng.sample(used, min(16, len(used))):
        changed[at] ^= rng.randrange(1, 256)
    return bytes(changed)


def zero(data: bytes, rng: random.Random) -> bytes:
    """A block of zeros, where something was."""
    used = _used(data)
    at = rng.choice(used) // _BLOCK * _BLOCK if used else 0
    end = min(len(data), at + _BLOCK)
    return data[:at] + bytes(end - at) + data[end:]


def garbage(data: bytes, rng: random.Random) -> bytes:
    """A kilobyte of anything behind it."""
    return data + rng.randbytes(1024)


def _used(data: bytes) -> list[int]:
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8)).tolist()


Mode = Callable[[bytes, random.Random], bytes]
MODES: dict[str, Mode | None] = {"halve": halve, "delete": None, "flip": flip, "zero": zero, "garbage": garbage}
"""How a file is damaged; None deletes it."""


@dataclass(frozen=True)
class Damage:
    """One file and what was done to it."""

    file: str
    mode: str


@dataclass(frozen=True)
class Found:
    """What came of one damage.

    Args:
        damage: Which.
        check: Exit code of ``disco-rag check``; None if there is no such command.
        said: What opening or reading said; empty if they raised nothing.
        differs: The first of what was read and is not as in the intact store.
        crashed: Whether the process that read it was ended by a signal.
        repaired: Whether all is as before after ``disco-rag repair``; None if there is no such command.
    """

    damage: Damage
    check: int | None
    said: str
    differs: list[str]
    crashed: bool
    repaired: bool | None

    @property
    def told(self) -> bool:
        """Whether anybody said that something is wrong."""
        return bool(self.said) or self.check not in (None, 0)

    @property
    def silent(self) -> bool:
        """Whether something else is read than was stored, and nobody said so."""
        return not self.told and bool(self.differs)

    @property
    def harmless(self) -> bool:
        """Whether there was nothing to say."""
        return not self.told and not self.differs


def kind_of(file: str) -> str:
    """The path without made-up names: files of one kind hold the same of other segments or fields."""
    return _NAMES.sub("*", file)


def files_in_turn(store: Path, rng: random.Random) -> Iterator[str]:
    """Every file of the folder, a kind at a time."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for path in sorted(store.rglob("*")):
        if path.is_file():
            kinds[kind_of(path.relative_to(store).as_posix())].append(path.relative_to(store).as_posix())
    for files in kinds.values():
        rng.shuffle(files)
    order = rng.sample(sorted(kinds), len(kinds))
    for at in range(max(len(files) for files in kinds.values())):
        yield from (kinds[kind][at] for kind in order if at < len(kinds[kind]))


def damages(store: Path, count: int, rng: random.Random) -> list[Damage]:
    """The known one first, then every kind of file in turn, each by the next mode; again by other modes if few."""
    first = next(store.glob(FIRST), None)
    head = [Damage(first.relative_to(store).as_posix(), "halve")] if first else []
    files, modes = [*files_in_turn(store, rng)], cycle(MODES)
    rest = (Damage(file, next(modes)) for file in cycle([*files, files[0]]))
    return [*head, *islice(rest, count - len(head))]


def do(damage: Damage, store: Path, rng: random.Random) -> None:
    """Damage a file; an empty one can only be lengthened or deleted."""
    path, mode = store / damage.file, MODES[damage.mode]
    if mode is None:
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(mode(data, rng) if data else garbage(data, rng))


def copied(store: Path, to: Path) -> Path:
    """A copy that takes no more room: files are allocated ahead."""
    subprocess.run(["cp", "-r", "--sparse=always", str(store), str(to)], check=True)
    return to


def stored(folder: Path, documents: int, parser: str) -> Path:
    """A closed store of so many texts, with their trees."""
    store = folder / "intact" / "store"
    store.parent.mkdir(parents=True)
    write_texts(folder / "texts", documents)
    process = start(store, folder / "texts", parser)
    _, said = process.communicate()
    if process.returncode:
        raise InvariantError(f"The store was not made: {said[-2000:]}")
    return store


def run(trial: Trial) -> Figures:
    """`damage_all` to a store of its own."""
    store, reading = stored(trial.folder, DOCUMENTS, "local"), trial.folder / "reading.json"
    reading.write_text(look(copied(store, trial.folder / "seen")).reading.model_dump_json(), encoding="utf-8")
    return damage_all(store, reading, trial, mends=knows("check", trial.folder))


def damage_all(store: Path, reading: Path, trial: Trial, *, mends: bool) -> Figures:
    """``trial.count`` damages to copies of a closed store; with ``mends`` there are the commands check and repair."""
    rng, found = random.Random(trial.seed), list[Found]()
    intact = read(copied(store, trial.folder / "read"), reading)
    if isinstance(intact, Ended):
        raise InvariantError(f"The intact store cannot be read: {intact.err[-2000:]}")
    for damage in damages(store, trial.count, rng):
        found.append(tried(damage, store, reading, intact, rng, mends=mends))
        trial.tick()
    return report(found, mends=mends)


def tried(damage: Damage, store: Path, reading: Path, intact: Content, rng: random.Random, *, mends: bool) -> Found:
    """One damage, looked at in copies that are removed."""
    damaged = copied(store, store.parent / "damaged")
    do(damage, damaged, rng)
    check = command(damaged, "check", "--json").code if mends else None
    seen = copied(damaged, store.parent / "seen")
    got = read(seen, reading)
    differs = [] if isinstance(got, Ended) else (missing(intact, got) + differing(intact, got))[:5]
    said, crashed = (got.err[-300:] or str(got.code), got.crashed) if isinstance(got, Ended) else ("", False)
    repaired = _repaired(damaged, reading, intact) if mends else None
    subprocess.run(["rm", "-rf", str(damaged), str(seen)], check=True)
    return Found(damage, check, said, differs, crashed, repaired)


def _repaired(damaged: Path, reading: Path, intact: Content) -> bool:
    done = command(damaged, "repair", "--json").code == 0 and command(damaged, "check", "--json").code == 0
    return done and read(damaged, reading) == intact


def report(found: list[Found], *, mends: bool) -> Figures:
    """The figures, and each damage that was silent, ended a process or was not repaired."""
    harmful = [f for f in found if not f.harmless]
    lost = [f for f in harmful if not f.repaired and f.damage.file.startswith(TEXTS)]
    unrepaired = [f for f in harmful if not f.repaired and f not in lost]
    return {
        "silent": sum(f.silent for f in found),
        "unrepaired": len(unrepaired) if mends else None,
        "texts_lost": len(lost) if mends else None,
        "repaired": sum(bool(f.repaired) for f in harmful) if mends else None,
        "harmful": len(harmful),
        "harmless": len(found) - len(harmful),
        "crashed": sum(f.crashed for f in found),
        "kinds_of_files": len({kind_of(f.damage.file) for f in found}),
        "modes": dict(Counter(f.damage.mode for f in found)),
        "silent_were": [asdict(f) for f in found if f.silent],
        "crashed_were": [asdict(f) for f in found if f.crashed],
        "unrepaired_were": [asdict(f) for f in unrepaired + lost] if mends else [],
    }
