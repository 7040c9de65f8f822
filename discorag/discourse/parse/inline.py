"""A chunk's text with its RST tree as marks inside the text, from which both can be read back.

A marker, ``|<depth><arrow><code>|``, stands between two EDUs, as in ``Vitamin D helps |1<cond|if you are deficient.``
It has the depth of the split there (the root's is 1), an arrow to the nucleus (``<`` left, ``>`` right, ``=`` both) and
the code of the relation. In the text itself ``&``, ``<``, ``>`` and ``|`` become character entities, so no document can
imitate a marker or close a fence.
"""

from xml.sax import saxutils

from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split

_BAR = {"|": "&#124;"}
_UNBAR = {entity: char for char, entity in _BAR.items()}
_ARROWS = {Nuclearity.NS: "<", Nuclearity.SN: ">", Nuclearity.NN: "="}


def escape(text: str) -> str:
    """``text`` with ``&``, ``<``, ``>`` and ``|`` as character entities: safe between markers and fences."""
    return saxutils.escape(text, _BAR)


def unescape(text: str) -> str:
    """The inverse of `escape`; other entities stay as they are."""
    return saxutils.unescape(text, _UNBAR)


def code_table() -> str:
    """Every relation's code and name, ``elab elaboration, expl explanation, ...``: the key to the marks.

    Lower case takes half the tokens.
    """
    return ", ".join(f"{r.code} {r.value.lower()}" for r in Relation)


def mark(text: str, tree: RstTree, *, offset: int, gap: str = "") -> str:
    """``text``, escaped, with a marker before every EDU but the first.

    The tree is in document offsets, the text starts at ``offset``. A ``gap`` is shown for text of a narrowed chunk that
    belongs to no EDU; without it there must be none.
    """
    starts, ends = [edu.start - offset for edu in tree.edus], [edu.end - offset for edu in tree.edus]
    outside = (text[a:b] for a, b in zip((0, *ends), (*starts, len(text)), strict=True))
    first, *behind = (f" {gap} " if part.strip() else part for part in outside)
    parts = [escape(text[a:b]) + white for a, b, white in zip(starts, ends, behind, strict=True)]
    labels = {s.mid: s for s in tree.splits}
    markers = ["", *(_marker(depth, labels[mid]) for mid, depth in enumerate(tree.depths, start=1))]
    return first + "".join(marker + part for marker, part in zip(markers, parts, strict=True))


def _marker(depth: int, split: Split) -> str:
    return f"|{depth}{_ARROWS[split.nuclearity]}{split.relation.code}|"
