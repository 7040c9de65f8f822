"""``disco-rag models``: which models there are, and the only command that downloads any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from discorag.config import Settings, read_settings
from discorag.models.hub import LockedModel, ModelLock, PulledRole, local_model, lock_path, pull_model
from discorag.models.packaged import MINILM, MS_MARCO_MINILM, PACKAGED, packaged_folder
from discorag.schema.errors import ConfigError
from interfaces.cli.present import AsJson, err, out, plain_table, print_json

models = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True)
class ModelRow:
    """A model on this machine, or one that is configured."""

    role: str
    name: str
    licence: str = ""
    megabytes: float | None = None
    sha256: str = ""
    source: str = "huggingface.co"
    installed: bool = False
    configured: bool = True


@models.command("list")
def list_models(as_json: AsJson = False) -> None:
    """Show the models on this machine and those that are configured."""
    rows = model_rows(read_settings())
    if as_json:
        return print_json({"models": [asdict(row) for row in rows]})
    out.print(_models_table(rows))
    return out.print("\nLicences, checksums and sources: --json. Larger models: docs/models.md.")


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help="Its name on the Hugging Face hub.")],
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit (default: the main branch).")] = None,
    role: Annotated[PulledRole | None, typer.Option(help="What it is for (default: what its files say).")] = None,
) -> None:
    """Download a model from the Hugging Face hub, and enter its revision and SHA-256 into the lock file."""
    lock = lock_path(read_settings())
    with err.status(f"Downloading {name} ..."):
        model = pull_model(name, lock, revision=revision, role=role)
    licence = model.licence or "no licence stated"
    out.print(f"{model.name} ({model.role}, {licence}) at {model.revision[:12]}, entered in {lock}.", soft_wrap=True)


def model_rows(settings: Settings) -> list[ModelRow]:
    """Return the packaged models, those of the lock file, and configured ones that are neither."""
    configured = _configured_roles(settings)
    rows = [
        ModelRow(m.role, m.name, m.licence, _megabytes(packaged_folder(m.name), m.files), m.sha256, m.source, True)
        for m in PACKAGED.values()
    ]
    rows += map(_locked_row, ModelLock.read(lock_path(settings)).models)
    rows = [replace(row, configured=row.name in configured) for row in rows]
    known = {row.name for row in rows}
    return rows + [_other_row(name, role) for name, role in configured.items() if name not in known]


def _configured_roles(settings: Settings) -> dict[str, str]:
    """Return the role of each configured model of this process by name; endpoints have their own."""
    encoder, reranker, nli = settings.encoder, settings.reranker, settings.nli
    named = {
        "encoder": None if encoder.base_url else encoder.model or MINILM.name,
        "tokenizer": encoder.tokenizer if encoder.base_url else None,
        "reranker": None if reranker.base_url else reranker.model or MS_MARCO_MINILM.name,
        "nli": None if nli.base_url else nli.model,
    }
    return {name: role for role, name in named.items() if name}


def _locked_row(model: LockedModel) -> ModelRow:
    digests = [digest for path, digest in model.files.items() if path.endswith((".safetensors", ".bin"))]
    sha256 = next(iter(digests or model.files.values()), "")
    source = f"huggingface.co @ {model.revision[:12]}"
    row = ModelRow(model.role, model.name, model.licence or "", sha256=sha256, source=source)
    try:
        folder = local_model(model.name, tuple(model.files))
    except ConfigError:
        return row
    return replace(row, megabytes=_megabytes(folder, model.files), installed=True)


def _megabytes(folder: Path, files: Iterable[str]) -> float:
    return round(sum((folder / path).stat().st_size for path in files) / 1e6, 1)


def _other_row(name: str, role: str) -> ModelRow:
    try:
        folder = local_model(name, ("tokenizer.json",) if role == "tokenizer" else ("config.json", "modules.json"))
    except ConfigError:
        return ModelRow(role, name)
    return ModelRow(role, name, source=str(folder), installed=True)


def _models_table(rows: Sequence[ModelRow]) -> Table:
    table = plain_table("role", "name", numbers=("MB",))
    table.add_column("state")
    for row in rows:
        states = [*(["in use"] if row.configured else []), *([] if row.installed else ["not installed"])]
        table.add_row(row.role, row.name, f"{row.megabytes:,.1f}" if row.megabytes else "", ", ".join(states))
    return table
