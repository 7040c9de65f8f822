"""The formats in which a chunk's tree is shown, by name. To add one, add a line to `FORMATS`."""

import json
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from types import MappingProxyType
from typing import NamedTuple

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from discorag.discourse.formats.drawing import tree_svg
from discorag.discourse.formats.rs3 import write_rs3
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import InputError, InvariantError
from discorag.text.escaping import one_line

_LABEL = 60  # characters of an EDU that a label of `tree_text` shows


class Format(NamedTuple):
    """A format of a chunk with its tree."""

    write: Callable[[Chunk, RstTree], str]
    media_type: str


def tree_text(chunk: Chunk, tree: RstTree) -> str:
    """The tree drawn in text: one line per constituent, with its role (N nucleus, S satellite) in its parent."""

    def label(start: int, end: int) -> str:
        if end - start > 1:
            return f"{tree.split_at(start, end).relation.value} {start + 1}-{end}"
        return f"{end}: {one_line(chunk.slice(tree.edus[start]))}"

    everything = (0, len(tree.edus))
    branches: dict[tuple[int, int], Tree] = {everything: Tree(Text(label(*everything)))}
    for split in tree.splits:
        sides = (split.start, split.mid), (split.mid, split.end)
        for side, role in zip(sides, split.nuclearity.value, strict=True):
            branches[side] = branches[split.start, split.end].add(Text(f"{role}  {label(*side)}"))
    drawn = StringIO()
    Console(file=drawn, width=4 * len(tree.edus) + 3 * _LABEL, color_system=None).print(branches[everything])
    return drawn.getvalue()


def write_json(chunk: Chunk, tree: RstTree) -> str:
    """``{"text", "edus": [{"start", "end", "text"}], "splits": [{"start", "mid", "end", "relation", "nuclearity"}]}``.

    EDUs are characters ``[start, end)`` of ``text``, the chunk's (Unicode code points, from its start); splits are EDU
    indices, in pre-order.
    """
    offset = chunk.span.start
    edus = [{"start": s.start - offset, "end": s.end - offset, "text": chunk.slice(s)} for s in tree.edus]
    splits = [split.model_dump(mode="json", exclude_none=True) for split in tree.splits]
    return json.dumps({"text": chunk.text, "edus": edus, "splits": splits}, indent=2, ensure_ascii=False) + "\n"


def write_svg(chunk: Chunk, tree: RstTree) -> str:
    """The tree drawn as linguists draw it, with its words."""
    return tree_svg(tree, [chunk.slice(edu) for edu in tree.edus]) + "\n"


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "text": Format(tree_text, "text/plain"),
        "rs3": Format(write_rs3, "application/xml"),
        "json": Format(write_json, "application/json"),
        "svg": Format(write_svg, "image/svg+xml"),
    }
)


def check_format(name: str) -> None:
    """Raises `InputError` if there is no such format."""
    if name not in FORMATS:
        raise InputError(f"There is no tree format {name!r}.", hint=f"Known formats: {', '.join(FORMATS)}.")


def write_trees(chunks: Sequence[Chunk], name: str) -> str:
    """The trees of the chunks in this format; if there are several, each is headed by the number of its chunk.

    Raises:
        InputError: There is no such format, or there are several chunks and it is not ``text``.
        InvariantError: A chunk has no tree.
    """
    check_format(name)
    if len(chunks) > 1 and name != "text":
        raise InputError(f"{name} holds one tree, these are {len(chunks)}.", hint="Name one chunk, counted from 0.")
    written: list[str] = []
    for chunk in chunks:
        if chunk.tree is None:
            raise InvariantError(f"Chunk {chunk.order} of {chunk.doc_id} has no RST tree.", hint="Parse it first.")
        head = f"Chunk {chunk.order}\n" if len(chunks) > 1 else ""
        written.append(head + FORMATS[name].write(chunk, chunk.tree))
    return "".join(written)
