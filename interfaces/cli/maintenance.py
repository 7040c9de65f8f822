"""``disco-rag check``, ``reindex``, ``backup``, ``restore``; ``models pull``, the only one that downloads models."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from discorag.config import StoreSettings, read_settings
from discorag.models.hub import pull_model
from discorag.schema.errors import ConfigError
from discorag.schema.values import amount
from discorag.store import backup as backups
from discorag.store.store import open_store
from discorag.text.escaping import one_line
from interfaces.cli.present import AsJson, Bar, err, out, print_json

BackupFile = Annotated[Path, typer.Argument(help="The file.")]


def check(as_json: AsJson = False) -> None:
    """``disco-rag check``."""
    with err.status("Reading ..."), open_store(_on_disk()) as store:
        report, index = store.check(), store.index_note
    counted = report.model_dump(mode="json", exclude={"differences"})
    differences = [str(d) for d in report.differences]
    if as_json:
        print_json({**counted, "index": index, "differences": differences})
    else:
        out.print(", ".join(amount(count, name) for name, count in counted.items()) + ".")
        for difference in differences:
            out.print(Text(one_line(difference, 300)), soft_wrap=True)
        out.print(_advice([d.part for d in report.differences]), soft_wrap=True)
    if differences:
        raise typer.Exit(1)


def _advice(parts: list[str]) -> str:
    if not parts:
        return "The store is consistent."
    if set(parts) == {"index"}:
        return "Run disco-rag reindex."
    return "Restore a backup (disco-rag restore), or ingest the documents again (disco-rag ingest --refresh)."


def reindex() -> None:
    """``disco-rag reindex``."""
    with err.status("Indexing ..."), open_store(_on_disk()) as store:
        count = store.reindex()
    out.print(f"{amount(count, 'documents')} indexed.")


def backup(file: BackupFile) -> None:
    """``disco-rag backup``."""
    with open_store(_on_disk()) as store, Bar("Backup") as bar:
        count = backups.backup(store.database, file, bar.count)
    out.print(f"{amount(count, 'documents')} in {file}, {file.stat().st_size / 1e6:.1f} MB.")


def restore(file: BackupFile) -> None:
    """``disco-rag restore``."""
    with Bar("Restore") as bar:
        count = backups.restore(_on_disk(), file, bar.count)
    out.print(f"{amount(count, 'documents')} restored.")


def _on_disk() -> StoreSettings:
    """The settings of a store that outlives this process. Raises `ConfigError`."""
    settings = read_settings().store
    if settings.kind == "memory":
        raise ConfigError("A store in memory is lost at exit.", hint="Unset DISCO_RAG_STORE__KIND.")
    return settings


models = typer.Typer(no_args_is_help=True)


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help="Its name on the Hugging Face hub.")],
    tokenizer: Annotated[bool, typer.Option("--tokenizer", help="Download only its tokenizer.")] = False,
) -> None:
    """Download a model from the Hugging Face hub."""
    with err.status(f"Downloading {name} ..."):
        licence, commit = pull_model(name, tokenizer_only=tokenizer)
    out.print(f"{name} ({licence or 'no licence stated'}) at commit {commit[:12]}.", soft_wrap=True)
