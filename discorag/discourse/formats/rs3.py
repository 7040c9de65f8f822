"""RST trees in ``rs3``, the XML of RSTTool and rstWeb.

A satellite's parent is the nucleus that it modifies; a nucleus belongs to a span group as ``span``, or to a
multinuclear group by the relation's name. A name may be declared both as mononuclear and as multinuclear; under a
multinuclear group it then makes a nucleus.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from lxml import etree

from discorag.discourse.formats.dis import edu_texts, name_of
from discorag.discourse.formats.text import tree_of
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.document import Chunk

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
