"""``disco-rag check``, ``repair``, ``migrate``, ``backup`` and ``restore``."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from discorag.ingest.survey import DocumentOutcome, Status
from discorag.rst.render import one_line
from discorag.settings import LlmSettings, Settings, read_settings
from discorag.store import backup as backups
from discorag.store.base import ShardStore
from discorag.store.check import Mended
from discorag.store.identity import Identity
from discorag.store.open import Opening, open_mended, open_migrated
from discorag.types.errors import ConfigError, MissingPathError, StoreDamagedError
from discorag.types.report import Report
from graphs.facade import DiscoRAG
from graphs.repair import complete
from nodes.resources import Resources

out, err = Console(), Console(stderr=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
BackupFile = Annotated[Path, typer.Argument(help="The file.")]


def check(as_json: AsJson = False) -> None:
    """Compare all that is stored with what was written; exit code 1 if it differs. Changes nothing."""
    settings = _bare(read_settings())
    _check_there(settings)
    report: Report | None = None
    try:
        with err.status("Reading ..."), DiscoRAG(settings) as rag:
            report = rag.resources.store.check()
        differences: Sequence[str] = [str(d) for d in report.differences]
    except StoreDamagedError as error:
        differences = error.differences or [error.message]
    counted = report.model_dump(mode="json", exclude={"differences"}) if report else {}
    if as_json:
        typer.echo(json.dumps({**counted, "differences": differences}, ensure_ascii=False, indent=2))
    else:
        _tell(counted, differences)
    if differences:
        raise typer.Exit(1)


def _tell(counted: dict[str, int], differences: Sequence[str]) -> None:
    if counted:
        out.print(", ".join(f"{count} {name}" for name, count in counted.items()) + ".")
    for difference in differences:
        out.print(Text(one_line(difference, 300)), soft_wrap=True)
    out.print("disco-rag repair makes it right." if differences else "All is as it was written.")


def repair(as_json: AsJson = False) -> None:
    """Make a damaged store right: from what is intact, the rest again from the texts; exit code 1 if some cannot be."""
    _mended(open_mended, as_json)


def migrate(as_json: AsJson = False) -> None:
    """Bring a store of an earlier version into the present format."""
    _mended(open_migrated, as_json)


def _mended(opening: Opening, as_json: bool) -> None:
    settings = read_settings()
    _check_there(settings)
    with err.status("Reading ..."):
        resources, mended = Resources.mended(settings, opening)
    with DiscoRAG(resources=resources) as rag, _progress("Repair", len(mended.unread)) as advance:
        outcomes = rag.run(lambda: complete(resources, mended, lambda outcome: advance(outcome.uri)))
        left = resources.store.check().differences
    _tell_mended(mended, outcomes, [str(d) for d in left], as_json)
    if left:
        raise typer.Exit(1)


def _tell_mended(mended: Mended, outcomes: list[DocumentOutcome], left: list[str], as_json: bool) -> None:
    read = [o.uri for o in outcomes if o.status is not Status.FAILED]
    built = [f"{doc_id} {builder}" for _, doc_id, builder in mended.trees]
    if as_json:
        told = {"found": mended.found, "read_again": read, "trees_built_again": built, "left": left}
        return typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    for line in mended.found:
        out.print(Text(one_line(line, 300)), soft_wrap=True)
    failed = [f"{o.uri}: {o.note}" for o in outcomes if o.status is Status.FAILED]
    for line in failed + left:
        err.print(Text(one_line(line, 300), style="red"), soft_wrap=True)
    return out.print(f"{len(read)} documents read again, {len(built)} trees built again. {len(left)} differences left.")


def backup(file: BackupFile) -> None:
    """Write all documents of all tenants, with chunks, trees and vectors, into one file."""
    with _store() as (store, identity), _progress("Backup") as advance:
        count = backups.backup(store, file, identity, advance)
    out.print(f"{count} documents in {file}, {file.stat().st_size / 1e6:.1f} MB.")


def restore(file: BackupFile) -> None:
    """Put all that a backup holds into an empty store; one that was interrupted goes on."""
    with _store() as (store, identity), _progress("Restore") as advance:
        count = backups.restore(store, file, identity, advance)
    out.print(f"{count} documents restored.")


@contextmanager
def _store() -> Generator[tuple[ShardStore, Identity]]:
    with DiscoRAG(_bare(read_settings())) as rag:
        store, encoder = rag.resources.store, rag.resources.encoder
        if not isinstance(store, ShardStore):
            raise ConfigError("This kind of store has no backup.", hint="Use what its database offers.")
        yield store, Identity(encoder_version=encoder.version, dimension=encoder.dimension)


def _bare(settings: Settings) -> Settings:
    """Without a language model."""
    return settings.model_copy(update={"llm": LlmSettings()})


def _check_there(settings: Settings) -> None:
    store = settings.store
    if store.url is None and store.kind == "edge" and not store.path.is_dir():
        raise MissingPathError(f"There is no store in {store.path}.", hint="Check DISCO_RAG_STORE__PATH.")


@contextmanager
def _progress(what: str, total: int | None = None) -> Generator[backups.Progress]:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err) as bar:
        task = bar.add_task(what, total=total)
        yield lambda _: bar.advance(task)
