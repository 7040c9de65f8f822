"""RST trees in ``rs3``, the XML of RSTTool and rstWeb.

A satellite's parent is the nucleus that it modifies; a nucleus belongs to a span group as ``span``, or to a
multinuclear group by the relation's name and ``_m``, as GUM writes it.
"""

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from discorag.schema.discourse import Nuclearity, Relation, RstTree
from discorag.schema.document import Chunk

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_Constituent = tuple[int, int]


def write_rs3(chunk: Chunk, tree: RstTree) -> str:
    """The tree as rs3. An EDU's text is on one line; characters that XML cannot hold become U+FFFD."""
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
        segment.text = _NOT_XML.sub("\ufffd", " ".join(chunk.slice(edu).split()))
    for split in tree.splits:
        part, kind = (split.start, split.end), "multinuc" if split.nuclearity is Nuclearity.NN else "span"
        etree.SubElement(body, "group", {"id": ids[part], "type": kind, **links.get(part, {})})
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _links(tree: RstTree, ids: Mapping[_Constituent, str]) -> Iterator[tuple[_Constituent, str, str]]:
    """Each constituent but the root, with its parent's id and its relation to it."""
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
