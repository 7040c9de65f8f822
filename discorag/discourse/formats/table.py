"""The formats in which a chunk's tree is shown, by name. To add one, add a line to `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import BaseModel

from discorag.discourse.formats.dis import write_dis
from discorag.discourse.formats.drawing import chunk_svg
from discorag.discourse.formats.rs3 import write_rs3
from discorag.discourse.formats.text import tree_of, tree_text
from discorag.schema.discourse import Split
from discorag.schema.document import Chunk
from discorag.schema.errors import InputError


@dataclass(frozen=True)
class Format:
    """A format: ``write`` raises `InvariantError` for a chunk without a tree.

    ``several``: whether several trees may be written one after another, as in formats for people.
    """

    write: Callable[[Chunk], str]
    media_type: str
    several: bool = False


class _Edu(BaseModel):
    start: int
    end: int
    text: str


class _TreeJson(BaseModel):
    text: str
    edus: tuple[_Edu, ...]
    splits: tuple[Split, ...]


def write_json(chunk: Chunk) -> str:
    """``{"text", "edus": [{"start", "end", "text"}], "splits": [{"start", "mid", "end", "relation", "nuclearity"}]}``.

    EDUs are characters ``[start, end)`` of ``text``, the chunk's (Unicode code points, from its start); splits are EDU
    indices, in pre-order.

    Raises:
        InvariantError: The chunk has no tree.
    """
    tree, offset = tree_of(chunk), chunk.span.start
    edus = tuple(_Edu(start=s.start - offset, end=s.end - offset, text=chunk.slice(s)) for s in tree.edus)
    return _TreeJson(text=chunk.text, edus=edus, splits=tree.splits).model_dump_json(indent=2, exclude_none=True) + "\n"


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
        "rs3": Format(write_rs3, "application/xml"),
        "dis": Format(write_dis, "text/plain"),
        "json": Format(write_json, "application/json"),
        "svg": Format(write_svg, "image/svg+xml"),
    }
)


def check_format(name: str) -> None:
    """Raises `InputError` if there is no such format."""
    if name not in FORMATS:
        raise InputError(f"Trees have no format {name!r}.", hint=f"Known formats: {', '.join(FORMATS)}.")


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
