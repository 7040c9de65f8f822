"""``disco-rag models``: which models there are, and the only command that downloads any."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from discorag.config import Settings, read_settings
from discorag.models.hub import LockedModel, ModelLock, PulledRole, local_model, lock_path, pull_model
from discorag.models.packaged import MINILM, MS_MARCO_MINILM, PACKAGED, packaged_folder
from discorag.schema.errors import ConfigError, InputError

out, err = Console(), Console(stderr=True)
_PLAIN: dict[str, Any] = {"box": None, "padding": (0, 2, 0, 0), "title_justify": "left"}
models = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True)
class ModelRow:
    """A model on this machine, or one that is configured."""

    role: str
    name: str
    licence: str
    megabytes: float | None
    sha256: str
    source: str
    installed: bool
    configured: bool


@dataclass(frozen=True)
class Recommended:
    """A larger model, with what its authors publish about it."""

    role: PulledRole
    name: str
    licence: str
    parameters: str
    figure: str
    source: str


RECOMMENDED = (
    Recommended("reranker", "BAAI/bge-reranker-v2-m3", "Apache-2.0", "568 M", "multilingual", "model card"),
    Recommended(
        "reranker",
        "Alibaba-NLP/gte-reranker-modernbert-base",
        "Apache-2.0",
        "149 M",
        "BEIR nDCG@10 56.2; English, 8,192 tokens",
        "model card",
    ),
    Recommended(
        "reranker",
        "mixedbread-ai/mxbai-rerank-base-v1",
        "Apache-2.0",
        "184 M",
        "nDCG@10 46.9 on 11 sets of BEIR; English",
        "mixedbread.com/docs",
    ),
    Recommended(
        "encoder",
        "Qwen/Qwen3-Embedding-0.6B",
        "Apache-2.0",
        "0.6 B",
        "MTEB multilingual, mean over tasks 64.3",
        "arXiv 2506.05176",
    ),
    Recommended("encoder", "BAAI/bge-m3", "MIT", "568 M", "multilingual, 8,192 tokens", "arXiv 2402.03216"),
    Recommended(
        "nli",
        "MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli",
        "MIT",
        "435 M",
        "accuracy: MultiNLI matched 91.2, ANLI 70.2; English",
        "model card",
    ),
)
"""Figures are the authors' own; where we found none there is none."""


@models.command("list")
def list_models(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show the models on this machine, those that are configured, and larger ones that can be pulled."""
    rows = model_rows(read_settings())
    if as_json:
        data = {"models": [asdict(row) for row in rows], "recommended": [asdict(r) for r in RECOMMENDED]}
        return typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
    out.print(_models_table(rows), "", _recommended_table())
    return out.print("\nLicences, checksums and sources: --json.")


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help="Its name on the Hugging Face hub.")],
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit (default: the main branch).")] = None,
    role: Annotated[
        str | None, typer.Option(help="encoder, reranker, nli or tokenizer (default: as its configuration says).")
    ] = None,
) -> None:
    """Download a model from the Hugging Face hub, and enter its revision and SHA-256 into the lock file."""
    lock = lock_path(read_settings())
    with err.status(f"Downloading {name} ..."):
        model = pull_model(name, lock, revision=revision, role=_role(role))
    licence = model.licence or "no licence stated"
    out.print(f"{model.name} ({model.role}, {licence}) at {model.revision[:12]}, entered in {lock}.", soft_wrap=True)


def model_rows(settings: Settings) -> list[ModelRow]:
    """Return the packaged models, those of the lock file, and configured ones that are neither."""
    configured = _configured(settings)
    rows = [
        ModelRow(
            m.role, m.name, m.licence, m.megabytes, m.sha256, m.distribution, _is_intact(m.name), m.name in configured
        )
        for m in PACKAGED.values()
    ]
    lock = ModelLock.read(lock_path(settings))
    rows += [_locked_row(model, is_configured=model.name in configured) for model in lock.models]
    known = {row.name for row in rows}
    return rows + [_other_row(name, role) for name, role in configured.items() if name not in known]


def _configured(settings: Settings) -> dict[str, str]:
    """Return the role of each configured model of this process by name; endpoints have their own."""
    named: list[tuple[str, str | None]] = []
    if settings.encoder.base_url is None:
        named.append(("encoder", settings.encoder.model or MINILM.name))
    else:
        named.append(("tokenizer", settings.encoder.tokenizer))
    if settings.reranker.base_url is None:
        named.append(("reranker", settings.reranker.model or MS_MARCO_MINILM.name))
    if settings.nli.base_url is None:
        named.append(("nli", settings.nli.model))
    return {name: role for role, name in named if name}


def _is_intact(name: str) -> bool:
    try:
        packaged_folder(name)
    except ConfigError:
        return False
    return True


def _locked_row(model: LockedModel, *, is_configured: bool) -> ModelRow:
    source = f"huggingface.co @ {model.revision[:12]}"
    digests = [digest for path, digest in model.files.items() if path.endswith((".safetensors", ".bin"))]
    sha256 = next(iter(digests or model.files.values()), "")
    try:
        folder = local_model(model.name, tuple(model.files))
    except ConfigError:
        return ModelRow(model.role, model.name, model.licence or "", None, sha256, source, False, is_configured)
    size = sum((folder / path).stat().st_size for path in model.files) / 1e6
    return ModelRow(model.role, model.name, model.licence or "", round(size, 1), sha256, source, True, is_configured)


def _other_row(name: str, role: str) -> ModelRow:
    try:
        folder = local_model(name, ("tokenizer.json",) if role == "tokenizer" else ("config.json", "modules.json"))
    except ConfigError:
        return ModelRow(role, name, "", None, "", "huggingface.co", installed=False, configured=True)
    return ModelRow(role, name, "", None, "", str(folder), installed=True, configured=True)


def _role(name: str | None) -> PulledRole | None:
    match name:
        case None | "encoder" | "reranker" | "nli" | "tokenizer":
            return name
        case _:
            raise InputError(f"--role {name} is unknown.", hint="Roles are encoder, reranker, nli, tokenizer.")


def _models_table(rows: Sequence[ModelRow]) -> Table:
    table = Table("role", "name", Column("MB", justify="right"), "state", title="Models", **_PLAIN)
    for row in rows:
        states = [*(["in use"] if row.configured else []), *([] if row.installed else ["not installed"])]
        table.add_row(row.role, row.name, f"{row.megabytes:,.1f}" if row.megabytes else "", ", ".join(states))
    return table


def _recommended_table() -> Table:
    table = Table("role", "name, and what its authors publish", title="Larger: disco-rag models pull NAME", **_PLAIN)
    for m in RECOMMENDED:
        table.add_row(m.role, f"{m.name}\n{m.parameters}, {m.licence}; {m.figure} ({m.source})")
    return table
