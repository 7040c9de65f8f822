"""A run's folder on disk: ``run.json``, and ``samples.jsonl`` with one record per line."""

import os
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout
from pydantic import ValidationError

from discorag.schema.errors import MissingPathError
from eval.errors import DataError, RunLockedError, first_error
from eval.running.record import Record, Run

RUN_FILE = "run.json"
SAMPLES_FILE = "samples.jsonl"
LOCK_FILE = ".lock"


class RunFolder:
    """The one writer of a run's folder; a context manager. Make it with `RunFolder.open`."""

    def __init__(self, path: Path, lock: FileLock, records: Iterable[Record]) -> None:
        self.path = path
        self._lock = lock
        self._records = {(r.sample, r.system): r for r in records}
        self._samples = (path / SAMPLES_FILE).open("ab")

    @classmethod
    def open(cls, path: Path, key: str) -> Self:
        """Own the folder, new or to be resumed. A last line that a crash cut off is removed.

        Args:
            path: The folder; created if it does not exist.
            key: `Run.key` of the run to be written.

        Raises:
            RunLockedError: Another process writes into the folder.
            DataError: The folder holds another run, or a broken line.
        """
        if path.exists() and not path.is_dir():
            raise DataError(f"{path} is a file.", hint="Choose another --out.")
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / LOCK_FILE, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise RunLockedError(
                f"Another process writes into {path}.", hint="Wait for it, or choose another --out."
            ) from error
        try:
            _check_key(path, key)
            return cls(path, lock, _resume(path / SAMPLES_FILE))
        except BaseException:
            lock.release()
            raise

    def records(self) -> tuple[Record, ...]:
        """All records, in the order in which they were written."""
        return tuple(self._records.values())

    def append(self, record: Record) -> None:
        """Write one record and flush it.

        Raises:
            DataError: This system's answer to this sample is already there, or a score is not a finite number.
        """
        where = f"sample {record.sample}, system {record.system}"
        if (record.sample, record.system) in self._records:
            raise DataError(f"{self.path}: {where} is already there.", hint="Skip what records() returns.")
        for metric, score in record.scores.items():
            if not isfinite(score):
                raise DataError(f"{where}: {metric} is {score}.", hint="Repair the metric; scores are 0 to 100.")
        self._samples.write(record.model_dump_json().encode() + b"\n")
        self._samples.flush()
        self._records[record.sample, record.system] = record

    def write_run(self, run: Run) -> None:
        """Replace ``run.json``; a reader sees the old one or the new one, never half of one."""
        _replace(self.path / RUN_FILE, run.model_dump_json(indent=2) + "\n")

    def close(self) -> None:
        """Let go of the folder."""
        self._samples.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load_run(path: Path) -> tuple[Run, tuple[Record, ...]]:
    """Read a run without owning its folder; a line still being written is left out.

    Raises:
        MissingPathError: The folder or a needed file does not exist.
        DataError: A file is not what it should be; the message names the line.
    """
    run = _read_run(path)
    if run is None:
        raise MissingPathError(f"{path} holds no {RUN_FILE}.", hint="Name the --out folder of an evaluation.")
    if not (path / SAMPLES_FILE).is_file():
        raise MissingPathError(f"{path} holds no {SAMPLES_FILE}.", hint="Run it again.")
    return run, tuple(_records(path / SAMPLES_FILE))


def check_same(path: Path, run: Run) -> None:
    """Raises `DataError` if the folder holds another run than this one; it says in what they differ."""
    if other := describe_difference(path, run):
        raise DataError(f"{path} holds another run ({other}).", hint="Choose another --out, or remove the folder.")


def describe_difference(path: Path, run: Run) -> str:
    """In what the folder's run differs from this one; empty if it is the same, or there is none."""
    held = _read_run(path)
    if held is None or held.key == run.key:
        return ""
    names = sorted(held.versions.keys() | run.versions.keys())
    changed = [
        f"{name} was {held.versions.get(name, 'not set')}, is {run.versions.get(name, 'not set')}"
        for name in names
        if held.versions.get(name) != run.versions.get(name)
    ]
    changed += [f"{name} was {a}, is {b}" for name, a, b in _facts(held, run) if a != b]
    return "; ".join(changed) or "with other options, systems or data"


def _facts(held: Run, run: Run) -> Iterator[tuple[str, object, object]]:
    for name in ("suite", "n", "documents", "seed"):
        yield name, getattr(held, name), getattr(run, name)


def _check_key(path: Path, key: str) -> None:
    run = _read_run(path)
    other = run.key != key if run else (path / SAMPLES_FILE).is_file() and (path / SAMPLES_FILE).stat().st_size
    if other:
        held = f"{run.suite}, key {run.key}" if run else f"{SAMPLES_FILE} without {RUN_FILE}"
        raise DataError(
            f"{path} holds another run ({held}; wanted key {key}).", hint="Choose another --out or remove it."
        )


def _read_run(path: Path) -> Run | None:
    file = path / RUN_FILE
    if not file.is_file():
        return None
    try:
        return Run.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise DataError(f"{file}: {first_error(error)}", hint="Restore the file, or remove the folder.") from error


def _resume(file: Path) -> tuple[Record, ...]:
    if not file.is_file():
        return ()
    records = tuple(_records(file))
    whole = file.read_bytes().rfind(b"\n") + 1
    os.truncate(file, whole)
    return records


def _records(file: Path) -> Iterator[Record]:
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(file.read_bytes().splitlines(keepends=True), start=1):
        if not line.endswith(b"\n"):
            return
        try:
            record = Record.model_validate_json(line)
        except ValidationError as error:
            raise DataError(
                f"{file}:{number}: {first_error(error)}", hint="Remove the line; it is run again."
            ) from error
        if (record.sample, record.system) in seen:
            raise DataError(
                f"{file}:{number}: sample {record.sample}, system {record.system} appears twice.",
                hint="Remove one of the lines.",
            )
        seen.add((record.sample, record.system))
        yield record


def _replace(file: Path, text: str) -> None:
    temporary = file.with_name(f"{file.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, file)
