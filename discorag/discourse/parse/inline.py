"""A chunk's text with its RST tree as marks inside the text.

A mark, ``{<depth><arrow><code>}``, stands between two EDUs, as in ``Vitamin D helps {1<cond}if you are deficient.`` It
has the depth of the split there (the root's is 1), an arrow to the nucleus (``<`` left, ``>`` right, ``=`` both) and
the code of the relation. Tables, lists and code have no marks inside them.
"""

import re
from collections.abc import Iterable
from xml.sax import saxutils

from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split

_ARROWS = {Nuclearity.NS: "<", Nuclearity.SN: ">", Nuclearity.NN: "="}
_BLOCK = re.compile(
    r"^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|\Z)"
    r"|(?:^[ \t]*\|[^\n]*(?:\n|\Z))+"
    r"|(?:^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t][^\n]*(?:\n|\Z))+",
    re.MULTILINE,
)
"""A block of code, a table, a list."""


def escape(text: str) -> str:
    """``text`` with ``&``, ``<`` and ``>`` as character entities: it cannot close a fence."""
    return saxutils.escape(text)


def unescape(text: str) -> str:
    """The inverse of `escape`; other entities stay as they are."""
    return saxutils.unescape(text)


def code_table(relations: Iterable[Relation] = Relation) -> str:
    """The code and name of each relation, ``elab elaboration, expl explanation, ...``: the key to the marks.

    Lower case takes half the tokens.
    """
    return ", ".join(f"{r.code} {r.value.lower()}" for r in relations)


def mark(text: str, tree: RstTree, *, offset: int, gap: str = "") -> str:
    """``text`` with a mark before every EDU but the first and those inside a table, a list or code.

    The tree is in document offsets, the text starts at ``offset``. A ``gap`` is shown for text of a narrowed chunk that
    belongs to no EDU; without it there must be none.
    """
    starts, ends = [edu.start - offset for edu in tree.edus], [edu.end - offset for edu in tree.edus]
    outside = (text[a:b] for a, b in zip((0, *ends), (*starts, len(text)), strict=True))
    first, *behind = (f" {gap} " if part.strip() else part for part in outside)
    parts = [text[a:b] + white for a, b, white in zip(starts, ends, behind, strict=True)]
    labels, blocks = {s.mid: s for s in tree.splits}, [block.span() for block in _BLOCK.finditer(text)]
    marks = [""]
    for mid, (depth, start) in enumerate(zip(tree.depths, starts[1:], strict=True), start=1):
        is_inside = any(begin < start < end and text[begin:start].strip() for begin, end in blocks)
        marks.append("" if is_inside else _mark(depth, labels[mid]))
    return first + "".join(mark + part for mark, part in zip(marks, parts, strict=True))


def _mark(depth: int, split: Split) -> str:
    return f"{{{depth}{_ARROWS[split.nuclearity]}{split.relation.code}}}"
