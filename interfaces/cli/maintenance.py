"""``disco-rag check``, ``reindex``, ``backup`` and ``restore``; ``disco-rag models``, which alone downloads any."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from discorag.config import Settings, StoreSettings, read_settings
from discorag.models.hub import MODEL_FILES, TOKENIZER_FILES, local_model, pull_model
from discorag.models.packaged import MINILM, MS_MARCO_MINILM, PACKAGED, packaged_folder
from discorag.schema.errors import ConfigError
from discorag.schema.values import amount
from discorag.store import backup as backups
from discorag.store.store import open_store
from discorag.text.escaping import one_line
from interfaces.cli.present import AsJson, Bar, err, out, plain_table, print_json

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


@dataclass(frozen=True)
class ModelRow:
    """A model that is packaged or configured; ``folder`` holds it if it is on this machine."""

    role: str
    name: str
    folder: str | None
    in_use: bool
    licence: str = ""
    sha256: str = ""
    source: str = "huggingface.co"

    @property
    def megabytes(self) -> str:
        """The size of its files; empty if it is not on this machine."""
        if self.folder is None:
            return ""
        return f"{sum(f.stat().st_size for f in Path(self.folder).rglob('*') if f.is_file()) / 1e6:,.1f}"


@models.command("list")
def list_models(as_json: AsJson = False) -> None:
    """Show the packaged models and those that are configured."""
    rows = model_rows(read_settings())
    if as_json:
        return print_json({"models": [asdict(row) for row in rows]})
    out.print(_models_table(rows))
    return out.print("\nLicences, checksums and sources: --json. Larger models: docs/models.md.")


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help="Its name on the Hugging Face hub.")],
    tokenizer: Annotated[bool, typer.Option("--tokenizer", help="Download only its tokenizer.")] = False,
) -> None:
    """Download a model from the Hugging Face hub."""
    with err.status(f"Downloading {name} ..."):
        licence, commit = pull_model(name, tokenizer_only=tokenizer)
    out.print(f"{name} ({licence or 'no licence stated'}) at commit {commit[:12]}.", soft_wrap=True)


def model_rows(settings: Settings) -> list[ModelRow]:
    """Return the packaged models, then the configured ones that are not packaged."""
    used = _configured_roles(settings)
    rows = [
        ModelRow(m.role, m.name, str(packaged_folder(m.name)), m.name in used, m.licence, m.sha256, m.source)
        for m in PACKAGED.values()
    ]
    others = [(role, name) for name, role in used.items() if name not in PACKAGED]
    return rows + [ModelRow(role, name, _folder(name), True) for role, name in others]


def _folder(name: str) -> str | None:
    try:
        return str(local_model(name, (*MODEL_FILES, *TOKENIZER_FILES)))
    except ConfigError:
        return None


def _configured_roles(settings: Settings) -> dict[str, str]:
    """Return the role of each configured model of this process by name; endpoints have their own."""
    encoder, reranker, nli = settings.encoder, settings.reranker, settings.nli
    named = {
        "encoder": None if encoder.base_url else encoder.model or MINILM.name,
        "tokenizer": encoder.tokenizer if encoder.base_url else None,
        "reranker": None if reranker.base_url else reranker.model or MS_MARCO_MINILM.name,
        "nli": nli.model,
    }
    return {name: role for role, name in named.items() if name}


def _models_table(rows: Sequence[ModelRow]) -> Table:
    table = plain_table("role", "name", numbers=("MB",))
    table.add_column("state")
    for row in rows:
        states = [*(["in use"] if row.in_use else []), *([] if row.folder else ["not installed"])]
        table.add_row(row.role, row.name, row.megabytes, ", ".join(states))
    return table
