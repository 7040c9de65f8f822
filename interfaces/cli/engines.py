"""``--engine``: who works through the documents of an ingest, or the questions of a file."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from discorag.schema.errors import ConfigError


class Engine(StrEnum):
    """Who works."""

    OWN = "own"
    RAY = "ray"


EngineOption = Annotated[Engine, typer.Option("--engine", help="own: this process.")]


def check_engine(engine: Engine) -> None:
    """Refuse Ray before anything is opened. Raises `ConfigError`."""
    if engine is Engine.RAY:
        raise ConfigError("--engine ray needs more than one machine's database.", hint="Leave it out for now.")
