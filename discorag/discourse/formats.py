"""RST trees as text for people, and as rs3 (the XML of RSTTool and rstWeb) or JSON for other programs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from lxml import etree
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from discorag.schema.discourse import Nuclearity, Relation, RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import InputError, InvariantError
from discorag.text.escaping import NOT_XML, one_line

MEDIA_TYPES = {"text": "text/plain", "rs3": "application/xml", "json": "application/json"}
"""The formats by name, each with its media type."""
_LABEL = 60  # characters of an EDU that a label of `_write_text` shows
_BEGINNING = 32  # characters of an EDU that a line of `indent_tree` shows
_Constituent = tuple[int, int]


def check_format(name: str) -> None:
    """Raises `InputError` if there is no such format."""
    if name not in MEDIA_TYPES:
        raise InputError(f"There is no tree format {name!r}.", hint=f"Known formats: {', '.join(MEDIA_TYPES)}.")


def write_trees(chunks: Sequence[Chunk], name: str) -> str:
    """The trees of the chunks in this format; if there are several, each is headed by the number of its chunk.

    Raises:
        InputError: There is no such format, or there are several chunks and it is not ``text``.
        InvariantError: A chunk has no tree.
    """
    check_format(name)
    if len(chunks) > 1 and name != "text":
        raise InputError(f"{name} holds one tree, these are {len(chunks)}.", hint="Name one chunk, counted from 0.")
    write = {"text": _write_text, "rs3": _write_rs3, "json": _write_json}[name]
    written: list[str] = []
    for chunk in chunks:
        if chunk.tree is None:
            raise InvariantError(f"Chunk {chunk.order} of {chunk.doc_id} has no RST tree.", hint="Parse it first.")
        head = f"Chunk {chunk.order}\n" if len(chunks) > 1 else ""
        written.append(head + write(chunk, chunk.tree))
    return "".join(written)


def _write_text(chunk: Chunk, tree: RstTree) -> str:
    """One line for each constituent, with its role in its parent (N nucleus, S satellite)."""

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
    width = 4 * len(tree.edus) + 3 * _LABEL
    Console(file=drawn, width=width, color_system=None, force_jupyter=False).print(branches[everything])
    return drawn.getvalue()


def indent_tree(chunk: Chunk, tree: RstTree) -> str:
    """The tree on as little room as a person can read: a line for each constituent, deeper ones further right.

    A line has the role in the parent (N nucleus, S satellite), and the relation or the first words of the EDU.
    """

    def lines(start: int, end: int, depth: int, role: str) -> Iterator[str]:
        if end - start == 1:
            yield f"{' ' * depth}{role}{one_line(chunk.slice(tree.edus[start]), _BEGINNING)}"
            return
        split = tree.split_at(start, end)
        yield f"{' ' * depth}{role}{split.relation.value}"
        for (a, b), own in zip(((start, split.mid), (split.mid, end)), split.nuclearity.value, strict=True):
            yield from lines(a, b, depth + 1, f"{own} ")

    return "\n".join(lines(0, len(tree.edus), 0, ""))


def _write_rs3(chunk: Chunk, tree: RstTree) -> str:
    """The tree as GUM writes it: an EDU's text on one line; characters that XML cannot hold become U+FFFD.

    A satellite's parent is the nucleus that it modifies. A nucleus belongs to a span group as ``span``, or to a
    multinuclear group by the relation's name and ``_m``.
    """
    root = etree.Element("rst")
    relations = etree.SubElement(etree.SubElement(root, "header"), "relations")
    for name in (relation.value.lower() for relation in Relation):
        etree.SubElement(relations, "rel", {"name": name, "type": "rst"})
        etree.SubElement(relations, "rel", {"name": f"{name}_m", "type": "multinuc"})
    body = etree.SubElement(root, "body")
    parts = [*((i, i + 1) for i in range(len(tree.edus))), *((s.start, s.end) for s in tree.splits)]
    ids = {part: str(i) for i, part in enumerate(parts, start=1)}
    links = {part: {"parent": parent, "relname": name} for part, parent, name in _links(tree, ids)}
    for i, edu in enumerate(tree.edus):
        segment = etree.SubElement(body, "segment", {"id": ids[i, i + 1], **links.get((i, i + 1), {})})
        segment.text = NOT_XML.sub("\ufffd", " ".join(chunk.slice(edu).split()))
    for split in tree.splits:
        part, kind = (split.start, split.end), "multinuc" if split.nuclearity is Nuclearity.NN else "span"
        etree.SubElement(body, "group", {"id": ids[part], "type": kind, **links.get(part, {})})
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _links(tree: RstTree, ids: Mapping[_Constituent, str]) -> Iterator[tuple[_Constituent, str, str]]:
    """Each constituent except the root, with the id of its parent and its relation to it."""
    for split in tree.splits:
        own, name = ids[split.start, split.end], split.relation.value.lower()
        left, right = (split.start, split.mid), (split.mid, split.end)
        if split.nuclearity is Nuclearity.NN:
            yield left, own, f"{name}_m"
            yield right, own, f"{name}_m"
        else:
            nucleus, satellite = (left, right) if split.nuclearity is Nuclearity.NS else (right, left)
            yield nucleus, own, "span"
            yield satellite, ids[nucleus], name


def _write_json(chunk: Chunk, tree: RstTree) -> str:
    """``{"text", "edus": [{"start", "end", "text"}], "splits": [{"start", "mid", "end", "relation", "nuclearity"}]}``.

    ``text`` is the chunk's; EDUs are its characters ``[start, end)``, counted in Unicode code points from 0. Splits are
    in pre-order, their numbers are indices of EDUs.
    """
    offset = chunk.span.start
    edus = [{"start": s.start - offset, "end": s.end - offset, "text": chunk.slice(s)} for s in tree.edus]
    splits = [split.model_dump(mode="json", exclude_none=True) for split in tree.splits]
    return json.dumps({"text": chunk.text, "edus": edus, "splits": splits}, indent=2, ensure_ascii=False) + "\n"
