"""``--engine``: who works through the documents of an ingest, or the questions of a file."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from discorag.extras import extra
from discorag.types.errors import InputError
from graphs.bulk.questions import Question, answer_file
from graphs.facade import DiscoRAG, IngestResult
from graphs.owner import answering
from graphs.terminal.present import IngestProgress, QuestionProgress


class Engine(StrEnum):
    """Who works."""

    OWN = "own"
    RAY = "ray"


EngineOption = Annotated[Engine, typer.Option("--engine", help="own: this process; ray: processes that Ray watches.")]
ActorsOption = Annotated[
    int | None, typer.Option("--actors", min=1, help="Processes of --engine ray (default: as many as cores).")
]


def check_engine(engine: Engine, actors: int | None) -> None:
    """Refuse what does not go together, before anything is opened.

    Raises:
        InputError: Actors are asked for, and not Ray.
        MissingExtraError: Ray is asked for, and not installed.
    """
    if engine is Engine.RAY:
        with extra("ray"):
            if find_spec("ray") is None:
                raise ModuleNotFoundError(name="ray")
    elif actors is not None:
        raise InputError("--actors goes with --engine ray.", hint="Leave one out, or add the other.")


def ingested(
    rag: DiscoRAG, path: str, progress: IngestProgress, switches: dict[str, Any], engine: Engine, actors: int | None
) -> IngestResult:
    """The ingest, while this process answers the questions of others to the store that it owns."""
    if engine is Engine.OWN:
        return rag.run(lambda: _own_ingest(rag, path, progress, switches))
    from graphs.bulk.actors import actors as started

    progress.load()
    with started(rag, actors) as there:
        return rag.run(lambda: _ray_ingest(rag, path, progress, switches, there))


async def _own_ingest(rag: DiscoRAG, path: str, progress: IngestProgress, switches: dict[str, Any]) -> IngestResult:
    async with answering(rag):
        return await rag.aingest(path, progress=progress.on_event, **switches)


async def _ray_ingest(
    rag: DiscoRAG, path: str, progress: IngestProgress, switches: dict[str, Any], there: Any
) -> IngestResult:
    from graphs.bulk.documents import ingest_with

    async with answering(rag):
        return await ingest_with(there, rag, path, progress.on_event, **switches)


def answered(
    rag: DiscoRAG,
    questions: Sequence[Question],
    out: Path,
    progress: QuestionProgress,
    switches: dict[str, Any],
    engine: Engine,
    actors: int | None,
) -> int:
    """Answer the questions of a file into another; how many failed."""
    if engine is Engine.OWN:
        return rag.run(lambda: answer_file(rag, questions, out, on_reply=progress.on_reply, **switches))
    from graphs.bulk.actors import actors as started
    from graphs.bulk.asking import answer_with

    progress.load()
    with started(rag, actors) as there:
        return answer_with(there, questions, out, progress.on_reply, **switches)
