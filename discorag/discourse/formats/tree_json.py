"""RST trees as JSON: the text, the EDUs in it, and the splits over them; nothing is lost."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from discorag.discourse.formats.text import tree_of
from discorag.schema.discourse import RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError
from discorag.schema.values import Span


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


def read_json(json: str) -> tuple[str, RstTree]:
    """The text, and the tree over it.

    Raises:
        InvariantError: It is not the JSON that `write_json` writes, an EDU's text is not the text at its offsets, or
            the splits are not a tree.
    """
    try:
        found = _TreeJson.model_validate_json(json)
        tree = RstTree(edus=tuple(Span(start=e.start, end=e.end) for e in found.edus), splits=found.splits)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InvariantError(
            f"This is not a tree in JSON: {where} {first['msg']}.",
            hint="Use write_json; splits are in pre-order.",
        ) from error
    for edu in found.edus:
        if edu.end > len(found.text) or found.text[edu.start : edu.end] != edu.text:
            raise InvariantError(
                f"EDU '{edu.text[:40]}' is not the text at [{edu.start}, {edu.end}).",
                hint="Offsets count Unicode code points of 'text', from 0.",
            )
    return found.text, tree
