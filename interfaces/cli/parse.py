"""``disco-rag parse``."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from discorag.config import LlmSettings, ModelRoles, Settings, StoreSettings, read_settings
from discorag.discourse.formats import MEDIA_TYPES, check_format, write_trees
from discorag.discourse.parse.parser import PARSERS, PROMPTED
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.schema.document import Chunk
from interfaces.cli.present import err
from interfaces.facade import DiscoRAG
from nodes.backends import Backends


def parse(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A document.")],
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(MEDIA_TYPES)}.")] = "text",
    parser: Annotated[str, typer.Option(help=f"auto: as configured; {PARSERS.described()}.")] = "auto",
) -> None:
    """``disco-rag parse``."""
    check_format(format_)
    typer.echo(write_trees([_parse_document(path, parser)], format_), nl=False)


def _parse_document(path: Path, parser: str) -> Chunk:
    """The document as one chunk with its tree."""
    settings = read_settings()
    name = settings.parser.kind if parser == "auto" else parser
    PARSERS.check(name)
    with err.status("Parsing ..."), DiscoRAG(_without_store(settings, name)) as rag:
        return rag.run(partial(_with_tree, rag.backends, path, name))


def _without_store(settings: Settings, parser: str) -> Settings:
    """Nothing is stored, and no language model started that does not parse."""
    without = {} if parser == PROMPTED else {"model": None, "models": ModelRoles(), "llm": LlmSettings()}
    return settings.model_copy(update={"store": StoreSettings(kind="memory"), **without})


async def _with_tree(backends: Backends, path: Path, parser: str) -> Chunk:
    document = await backends.reader.read(path)
    hierarchy = await asyncio.to_thread(build_hierarchy, document, backends.settings.reading.max_sentences)
    chunk = whole_chunk(document, hierarchy)
    parsed = await backends.parser(parser).parse(chunk)
    return chunk.model_copy(update={"tree": parsed.value})
