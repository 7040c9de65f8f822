"""RST trees in rstWeb's XML: ``rs3``, and ``rs4``, which adds secondary edges and signals.

A satellite's parent is the nucleus that it modifies; a nucleus belongs to a span group as ``span``, or to a
multinuclear group by the relation's name. A name may be declared both as mononuclear and as multinuclear; under a
multinuclear group it then makes a nucleus (as in RSTTool and rstWeb).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from lxml import etree

from discorag.discourse.formats.dis import Cut, Part, build_tree, edu_texts, join, join_units, name_of
from discorag.discourse.formats.text import tree_of
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.errors import InvariantError

_SEGMENT, _SPAN, _MULTINUC = "segment", "span", "multinuc"
_ALWAYS_MULTINUCLEAR = frozenset({Relation.JOINT, Relation.CONTRAST, Relation.SEQUENCE})
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Node(NamedTuple):
    """A segment or a group. The root's ``parent`` and ``name`` are empty; ``kind`` is segment, span or multinuc."""

    id: str
    kind: str
    parent: str
    name: str


def write_rs3(chunk: Chunk) -> str:
    """The tree as rs3; an EDU's text is on one line, and what XML cannot hold in it becomes U+FFFD.

    Raises:
        InvariantError: The chunk has no tree, or an EDU is blank.
    """
    return _to_xml(chunk, ())


def write_rs4(chunk: Chunk) -> str:
    """The tree as rs4, with no secondary edges and no signals; otherwise as `write_rs3`.

    Raises:
        InvariantError: The chunk has no tree, or an EDU is blank.
    """
    return _to_xml(chunk, ("secedges", "signals"))


def read_rs3(xml: str) -> tuple[str, RstTree]:
    """The text of an rs3 or rs4, its EDUs joined by single spaces, and the tree over it, binarised as `join` says.

    Secondary edges and signals are left out.

    Raises:
        InvariantError: It is not XML, declares a document type, or is not a tree; a segment has no text; a relation is
            unknown.
    """
    root = _parse(xml)
    segments = list(root.iter(_SEGMENT))
    multinuclear = {r.get("name", "") for r in root.iter("rel") if r.get("type", "") == _MULTINUC}
    cuts = _cuts([_node(element) for element in (*segments, *root.iter("group"))], multinuclear)
    text, edus = join_units(["".join(segment.itertext()) for segment in segments])
    return text, build_tree(edus, cuts)


# --- writing --------------------------------------------------------------------------------------


def _to_xml(chunk: Chunk, additions: tuple[str, ...]) -> str:
    tree = tree_of(chunk)
    multinuclear = _ALWAYS_MULTINUCLEAR | {s.relation for s in tree.splits if s.nuclearity is Nuclearity.NN}
    root = etree.Element("rst")
    relations = etree.SubElement(etree.SubElement(root, "header"), "relations")
    for relation in Relation:
        if relation is not Relation.JOINT:
            etree.SubElement(relations, "rel", {"name": name_of(relation), "type": "rst"})
        if relation in multinuclear:
            etree.SubElement(relations, "rel", {"name": name_of(relation), "type": _MULTINUC})
    body = etree.SubElement(root, "body")
    texts = iter(edu_texts(chunk, tree))
    for node in _hang(tree, multinuclear):
        link = {"parent": node.parent, "relname": node.name} if node.parent else {}
        if node.kind == _SEGMENT:
            etree.SubElement(body, _SEGMENT, {"id": node.id, **link}).text = _NOT_XML.sub("\ufffd", next(texts))
        else:
            etree.SubElement(body, "group", {"id": node.id, "type": node.kind, **link})
    for addition in additions:
        etree.SubElement(body, addition)
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _hang(tree: RstTree, multinuclear: Collection[Relation]) -> list[_Node]:
    """Segments in text order, then groups.

    A multinuclear nucleus is put into a span group of its own where its satellite would be taken for one more nucleus.
    """
    n = len(tree.edus)
    groups = {(s.start, s.end): s for s in tree.splits}
    ids = {part: str(i) for i, part in enumerate([*((i, i + 1) for i in range(n)), *groups], start=1)}
    links = {(0, n): ("", "")}
    wrappers: list[_Node] = []
    for (start, end), split in groups.items():
        own, name = ids[start, end], name_of(split.relation)
        left, right = (start, split.mid), (split.mid, end)
        if split.nuclearity is Nuclearity.NN:
            links[left] = links[right] = own, name
            continue
        nucleus, satellite = (left, right) if split.nuclearity is Nuclearity.NS else (right, left)
        anchor, parent = ids[nucleus], own
        inner = groups.get(nucleus)
        if split.relation in multinuclear and inner is not None and inner.nuclearity is Nuclearity.NN:
            anchor = parent = str(len(ids) + len(wrappers) + 1)
            wrappers.append(_Node(anchor, _SPAN, own, _SPAN))
        links[nucleus], links[satellite] = (parent, _SPAN), (anchor, name)
    return [_Node(i, _kind(groups.get(part)), *links[part]) for part, i in ids.items()] + wrappers


def _kind(split: Split | None) -> str:
    if split is None:
        return _SEGMENT
    return _MULTINUC if split.nuclearity is Nuclearity.NN else _SPAN


# --- reading --------------------------------------------------------------------------------------


def _parse(xml: str) -> etree._Element:
    """The root element; entities are not expanded, nothing is fetched."""
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(xml.encode("utf-8", "surrogatepass"), parser)
    except etree.XMLSyntaxError as error:
        raise InvariantError(f"This is not XML: {error}.", hint="Export the file again from rstWeb.") from error
    if root.getroottree().docinfo.doctype:
        raise InvariantError("The file declares a document type.", hint="Remove the <!DOCTYPE ...> from it.")
    return root


def _node(element: etree._Element) -> _Node:
    kind = _SEGMENT if element.tag == _SEGMENT else element.get("type", "")
    node = _Node(element.get("id", ""), kind, element.get("parent", ""), element.get("relname", ""))
    if not node.id or kind not in {_SEGMENT, _SPAN, _MULTINUC}:
        raise InvariantError(
            f"A {element.tag} has id '{node.id}' and type '{kind}'.",
            hint="Every segment and group needs an id, every group the type span or multinuc.",
        )
    return node


def _cuts(nodes: list[_Node], multinuclear: Collection[str]) -> list[Cut]:
    """The binary nodes of the tree whose leaves are the segments in ``nodes``, in their order."""
    children = _children(nodes)
    leaves = {node.id: i for i, node in enumerate(nodes) if node.kind == _SEGMENT}
    parts: dict[str, Part] = {}
    cuts: list[Cut] = []
    for node in reversed(_from_root(nodes, children)):
        nuclei: list[Part] = []
        satellites: list[Part] = []
        if node.kind == _SEGMENT:
            nuclei.append(Part(leaves[node.id], leaves[node.id] + 1, ""))
        for child in children[node.id]:
            inside = child.name in (multinuclear if node.kind == _MULTINUC else {_SPAN})
            (nuclei if inside else satellites).append(parts[child.id])
        if not nuclei:
            raise InvariantError(
                f"The {node.kind} '{node.id}' has no nucleus.",
                hint="A group needs one below it: as span, or by a relation that is declared as multinuclear.",
            )
        parts[node.id] = Part(*join(nuclei, satellites, cuts), node.name)
    return cuts


def _children(nodes: list[_Node]) -> defaultdict[str, list[_Node]]:
    ids = {node.id for node in nodes}
    children: defaultdict[str, list[_Node]] = defaultdict(list)
    for node in nodes:
        if node.parent and node.parent not in ids:
            raise InvariantError(
                f"The parent '{node.parent}' of '{node.id}' does not exist.",
                hint="Name a segment or group of the file.",
            )
        children[node.parent].append(node)
    if len(ids) < len(nodes):
        raise InvariantError(f"{len(nodes)} segments and groups have {len(ids)} ids.", hint="Give each its own id.")
    return children


def _from_root(nodes: list[_Node], children: defaultdict[str, list[_Node]]) -> list[_Node]:
    """All nodes, parents before children."""
    roots = children[""]
    if len(roots) > 1:
        names = ", ".join(node.id for node in roots[:5])
        raise InvariantError(f"{len(roots)} nodes have no parent: {names}.", hint="Connect them: a tree has one root.")
    order = list(roots)
    for node in order:  # grows while it is read
        order += children[node.id]
    if len(order) < len(nodes):
        reached = {node.id for node in order}
        lost = next(node.id for node in nodes if node.id not in reached)
        raise InvariantError(f"The parents of '{lost}' form a cycle.", hint="Give one of them a parent outside it.")
    return order
