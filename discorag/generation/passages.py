"""The passages of a question as a person reads them next to a plan."""

from itertools import groupby
from typing import Any

from discorag.discourse.formats import indent_tree
from discorag.ingest.segment.sentence_table import sentences_in
from discorag.schema.answer import AnswerInputs
from discorag.text.escaping import one_line


def passages_to_read(inputs: AnswerInputs) -> list[dict[str, Any]]:
    """The chunks with the numbers by which a plan cites them.

    Each has ``number``, ``title``, ``heading``, ``text`` (a line for each unit, after the reference to it, such as
    ``[2.3]``) and ``tree`` (indented; empty without a tree).
    """
    units = {n: list(group) for n, group in groupby(sentences_in(inputs.chunks), lambda unit: unit.chunk)}
    return [
        {
            "number": number,
            "title": chunk.source or chunk.title,
            "heading": " > ".join(chunk.headings),
            "text": "\n".join(f"[{number}.{u.number}] {one_line(u.text, None)}" for u in units.get(number, ())),
            "tree": indent_tree(chunk, chunk.tree) if chunk.tree else "",
        }
        for number, chunk in enumerate(inputs.chunks, start=1)
    ]
