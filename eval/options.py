"""The data, the models and the judge that the command line names, and what is checked before anything is run."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import typer
from pydantic import SecretStr

from discorag.config import DATA_VARIABLE, LlmSettings, Role, Settings
from discorag.models.gateway import Gateway
from discorag.models.protocol import Message, Request
from discorag.schema.errors import (
    ConfigError,
    InvalidOutputError,
    MissingPathError,
    ModelError,
    OutputTruncatedError,
)
from eval.datasets.sources import SOURCES
from eval.suite import Suite

BESIDE = Path("../shared/data")
"""Where the data is looked for when the variable is not set."""
_READY = "Write the word: ready"


def find_data() -> Path | None:
    """The folder of the datasets, if there is one."""
    folder = Path(os.environ.get(DATA_VARIABLE, BESIDE))
    return folder if folder.is_dir() else None


def data_folder() -> Path:
    """The folder of the datasets. Raises `MissingPathError` if there is none."""
    if found := find_data():
        return found
    if named := os.environ.get(DATA_VARIABLE):
        hint = f"Create it, or set {DATA_VARIABLE} to the folder of the datasets."
        raise MissingPathError(f"{DATA_VARIABLE} is {named}, which is not a folder.", hint=hint)
    hint = f"Set {DATA_VARIABLE} to the folder of the datasets; `python -m eval data` says what belongs there."
    raise MissingPathError(f"{DATA_VARIABLE} is not set, and there is no {BESIDE}.", hint=hint)


def check_data(suite: Suite, folder: Path) -> None:
    """Raises `MissingPathError` if the suite's data is not in the folder; it says where it is published."""
    if (folder / suite.path).exists():
        return
    what = f"The data folder {folder} has no {suite.path}, which {suite.label} reads."
    source = SOURCES.get(suite.dataset)
    if source is None:
        raise MissingPathError(what, hint="Put it there, or name another folder with --data.")
    raise MissingPathError(
        f"{what} It is published at {source.published}.",
        hint=f"`python -m eval data {source.name}` says how to get it.",
    )


def judge_settings(url: str | None, model: str, key: str, cache: Path) -> LlmSettings | None:
    """The judge at an endpoint, if one is given. Raises `ConfigError` if the variable ``key`` is named and empty."""
    if not url:
        return None
    secret = os.environ.get(key, "") if key else ""
    if key and not secret:
        raise ConfigError(f"{key} is not set.", hint="Name the environment variable that holds the judge's key.")
    return LlmSettings(base_url=url, model=model, api_key=SecretStr(secret) if secret else None, cache=cache)


def models_of(settings: Settings) -> list[LlmSettings]:
    """The configured language models of all roles, each once."""
    found = [settings.llm_for(role) for role in get_args(Role)]
    return [llm for i, llm in enumerate(found) if llm.provider and llm not in found[:i]]


async def check_models(models: Sequence[LlmSettings]) -> None:
    """Ask each model for one word, all at once. A model that writes something else works too.

    Raises:
        ModelError: A model does not answer; the error names it.
    """
    await asyncio.gather(*(_check_model(m) for i, m in enumerate(models) if m not in models[:i]))


async def _check_model(settings: LlmSettings) -> None:
    gateway = Gateway(settings.model_copy(update={"cache": None, "retries": 0}))
    request = Request(stage="check", messages=(Message(role="user", content=_READY),), parse=str, max_tokens=16)
    try:
        await gateway.complete(request)
    except (InvalidOutputError, OutputTruncatedError):
        return
    except ModelError as error:
        where = f" at {settings.base_url}" if settings.base_url else ""
        error.message = f"The model {settings.model}{where} does not answer: {error.message}"
        raise


def confirm(what: str, *, yes: bool) -> None:
    """Ask whether to spend this. Raises `ConfigError` if nobody can be asked; a refusal ends the command."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"Nothing was run: {what}, and there is no terminal to ask whether you want that.",
            hint="Add --yes to run it, with --max-calls or --max-tokens as a limit, or --dry-run for the bill alone.",
        )
    typer.confirm(f"{what[0].upper()}{what[1:]}. Run it?", abort=True)
