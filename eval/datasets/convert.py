"""Published files of Loong, ASQA and SciNews into the layout that the loaders read; counts are checked."""

import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from discorag.schema.errors import ConfigError, MissingPathError
from discorag.schema.values import digest
from eval.datasets.reading import read_text, validate
from eval.datasets.registry import load_benchmark
from eval.datasets.sources import SOURCES, Source
from eval.errors import DataError
from eval.suite import load_suite

_Rows = list[dict[str, Any]]
SETS = {"1": 323, "2": 564, "3": 481, "4": 232}
"""Loong's questions by length of their documents (Disco-RAG, table 6)."""
_FIELDS = ("DOI", "Citation", "Paper_Body", "News_Body", "Topic")


def convert(name: str, given: Path, data: Path) -> list[str]:
    """Write what is published at ``given`` into the data folder.

    Args:
        name: A key of `CONVERTERS`.
        given: The published file, archive, or folder that it was unpacked into.
        data: The data folder.

    Returns:
        Lines that say what was written, and where counts differ from the published ones.

    Raises:
        ConfigError: Nothing converts this set.
        MissingPathError: There is nothing at ``given``, or what is needed is not in it.
        DataError: It is not in the published form.
    """
    if name not in CONVERTERS:
        raise ConfigError(
            f"There is nothing to convert for {name!r}: put its files where `python -m eval data` says.",
            hint=f"Converted are {', '.join(CONVERTERS)}.",
        )
    if not given.exists():
        raise MissingPathError(f"{given} does not exist.", hint="Name the published file, archive or folder.")
    loader, source = next((key, s) for key, s in SOURCES.items() if s.name == name)
    target = data / source.path
    target.parent.mkdir(parents=True, exist_ok=True)
    with _unpack(given) as found:
        CONVERTERS[name](found, target)
    return list(_report(loader, source, target))


def _report(loader: str, source: Source, target: Path) -> Iterator[str]:
    benchmark = load_benchmark(loader, target)
    n, official = len(benchmark.samples), load_suite(source.name).official
    yield f"{target}: {n:,} questions, {len(benchmark.documents):,} documents."
    yield from (f"{count:,} left out: {why}." for why, count in benchmark.dropped.items())
    if n != official:
        yield f"The published set has {official:,} questions: this is not all of it."
    if source.name == "loong":
        found = {k: sum(s.strata["set"] == k for s in benchmark.samples) for k in SETS}
        yield "Questions by set: " + ", ".join(f"{k}: {found[k]} of {SETS[k]}" for k in SETS) + "."
    if source.unseen:
        yield f"We know from documentation only: {source.unseen}."


@contextmanager
def _unpack(given: Path) -> Generator[Path]:
    """The path itself, or a temporary folder with the contents of the archive."""
    if not given.is_file() or not (zipfile.is_zipfile(given) or tarfile.is_tarfile(given)):
        yield given
        return
    with TemporaryDirectory() as name:
        if zipfile.is_zipfile(given):
            with zipfile.ZipFile(given) as archive:
                archive.extractall(name)
        else:
            with tarfile.open(given) as archive:
                archive.extractall(name, filter="data")
        yield Path(name)


def _convert_loong(given: Path, target: Path) -> None:
    """From a clone of the repository with ``doc.zip`` or ``doc`` in it, or from either of them alone."""
    questions = _find(given, "loong.jsonl")
    target.mkdir(exist_ok=True)
    if questions:
        shutil.copyfile(questions, target / "loong.jsonl")
    archive = _find(given, "doc.zip")
    with _unpack(archive or given) as found:
        for kind in ("financial", "paper", "legal"):
            if folder := next((p for p in sorted(found.rglob(kind)) if p.is_dir()), None):
                shutil.copytree(folder, target / "doc" / kind, dirs_exist_ok=True)
    for part in ("loong.jsonl", "doc"):
        if not (target / part).exists():
            raise MissingPathError(f"{given} has no {part}, nor has {target}.", hint=SOURCES["loong"].published)


def _convert_asqa(given: Path, target: Path) -> None:
    """From ALCE's archive, or one of its files ``asqa_eval_*.json``."""
    files = [given] if given.is_file() else sorted(given.rglob("asqa_eval_*.json"))
    chosen = next((f for f in files if "gtr" in f.name), files[0] if files else None)
    if chosen is None:
        raise MissingPathError(f"{given} has no asqa_eval_*.json.", hint=SOURCES["asqa-pooled"].published)
    rows = _rows(chosen)
    if not all(row.get("docs") for row in rows):
        raise DataError(f"{chosen}: entries have no passages (docs).", hint="Use ALCE's file, not ASQA's own.")
    for row in rows:
        row["docs"] = [{**doc, "id": str(doc.get("id") or digest(f"{doc.get('text')}")[:16])} for doc in row["docs"]]
    _write(target, rows)


def _convert_scinews(given: Path, target: Path) -> None:
    """From ``test.json``: a list, JSON lines, or a table by columns; fields in any case."""
    file = given if given.is_file() else _find(given, "test.json")
    if file is None:
        raise MissingPathError(f"{given} has no test.json.", hint=SOURCES["scinews"].published)
    known = {field.lower(): field for field in _FIELDS}
    rows = [{known.get(key.lower(), key): value for key, value in row.items()} for row in _rows(file)]
    if missing := [field for field in _FIELDS if not any(field in row for row in rows)]:
        raise DataError(
            f"{file}: no entry has {', '.join(missing)}. The fields are {', '.join(sorted(rows[0]))}.",
            hint=f"Rename them to {', '.join(_FIELDS)}.",
        )
    _write(target, rows)


CONVERTERS: Mapping[str, Callable[[Path, Path], None]] = {
    "loong": _convert_loong,
    "asqa": _convert_asqa,
    "scinews": _convert_scinews,
}


def _find(folder: Path, name: str) -> Path | None:
    """The file of this name below the folder, the nearest first; or the path itself."""
    if folder.is_file():
        return folder if folder.name == name else None
    return min(folder.rglob(name), key=lambda path: len(path.parts), default=None)


def _rows(file: Path) -> _Rows:
    """The objects of a JSON list, of JSON lines, or of a JSON table by columns. Raises `DataError`."""
    text = read_text(file)
    try:
        value: Any = json.loads(text)
    except json.JSONDecodeError:
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError as error:
            hint = "Is the file whole? Fetch the published file again."
            raise DataError(f"{file} is neither JSON nor JSON lines: {error.msg}.", hint=hint) from error
    if isinstance(value, dict):
        return _from_columns(cast("dict[str, Any]", value))
    if not isinstance(value, list) or not value:
        raise DataError(f"{file} is not a list of entries.", hint="Fetch the published file again.")
    return validate(_Rows, value, str(file))


def _from_columns(table: Mapping[str, Any]) -> _Rows:
    """The entries of a table by columns, as pandas writes it; anything else is one entry."""
    columns = {name: cast("dict[str, Any]", column) for name, column in table.items() if isinstance(column, dict)}
    if len(columns) < len(table):
        return [dict(table)]
    keys = dict.fromkeys(key for column in columns.values() for key in column)
    return [{name: column.get(key) for name, column in columns.items()} for key in keys]


def _write(target: Path, rows: _Rows) -> None:
    part = target.with_name(f"{target.name}.part")
    part.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    part.replace(target)
