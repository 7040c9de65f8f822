"""The formats in which a chunk's tree is shown, by name. To add one, add a line to `FORMATS`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discorag.discourse.formats.dis import read_dis, write_dis
from discorag.discourse.formats.drawing import chunk_svg
from discorag.discourse.formats.rs3 import read_rs3, write_rs3, write_rs4
from discorag.discourse.formats.text import tree_of, tree_text
from discorag.discourse.formats.tree_json import read_json, write_json
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import DecodingError, InputError, InvariantError
from discorag.schema.values import Span


@dataclass(frozen=True)
class Format:
    """A format: ``write`` raises `InvariantError` for a chunk without a tree, ``read`` for a file that holds none.

    ``several``: whether several trees may be written one after another, as in formats for people.
    """

    write: Callable[[Chunk], str]
    media_type: str
    read: Callable[[str], tuple[str, RstTree]] | None = None
    several: bool = False


def write_svg(chunk: Chunk) -> str:
    """The tree drawn as linguists draw it, with its words.

    Raises:
        InvariantError: The chunk has no tree.
    """
    tree_of(chunk)
    return chunk_svg(chunk) + "\n"


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "text": Format(tree_text, "text/plain", several=True),
        "rs3": Format(write_rs3, "application/xml", read_rs3),
        "rs4": Format(write_rs4, "application/xml", read_rs3),
        "dis": Format(write_dis, "text/plain", read_dis),
        "json": Format(write_json, "application/json", read_json),
        "svg": Format(write_svg, "image/svg+xml"),
    }
)
READERS = {f".{name}": found.read for name, found in FORMATS.items() if found.read}
"""How files are read, by the ends of their names."""


def check_format(name: str) -> None:
    """Raises `InputError` if there is no such format."""
    if name not in FORMATS:
        raise InputError(f"Trees have no format {name!r}.", hint=f"Known are {', '.join(FORMATS)}.")


def write_trees(chunks: Sequence[Chunk], name: str) -> str:
    """The trees of the chunks in the format of this name.

    Raises:
        InputError: There is no such format, or it holds one tree and the chunks are several.
        InvariantError: A chunk has no tree.
    """
    check_format(name)
    found = FORMATS[name]
    if len(chunks) > 1 and not found.several:
        raise InputError(f"{name} holds one tree, these are {len(chunks)}.", hint="Name one chunk, counted from 0.")
    return "".join(map(found.write, chunks))


def is_tree(path: Path) -> bool:
    """Whether a file is read as a tree: by the end of its name, and JSON, which other documents are in, by its keys."""
    if path.suffix != ".json":
        return path.suffix in READERS
    try:
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and {"edus", "splits"} <= found.keys()


def read_tree(path: Path) -> Chunk:
    """The tree of a file whose name ends as one of `READERS`, as the tree of a chunk that is its whole text.

    Raises:
        InputError: The file cannot be read, or is not UTF-8.
        InvariantError: It holds no tree, which the message says of this path.
    """
    try:
        text, tree = READERS[path.suffix](path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Check the path.") from error
    except UnicodeDecodeError as error:
        raise DecodingError(f"{path} is not UTF-8.", hint="Export the file again.") from error
    except InvariantError as error:
        raise InvariantError(f"{path}: {error.message}", hint=error.hint) from error
    span = Span(start=0, end=len(text))
    return Chunk(id=str(path), doc_id=str(path), order=0, span=span, text=text, sentences=tree.edus, tree=tree)
