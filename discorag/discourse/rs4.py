"""rs3 and rs4 files, read and written: RST trees of RSTTool and rstWeb with the labels of their annotators.

rs4 adds secondary edges and signals, the words by which a relation is known. Nodes with several children become binary.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lxml import etree

from discorag.discourse.labelled import LabelledSplit, Part, join
from discorag.schema.discourse import Nuclearity
from discorag.schema.errors import InputError, InvariantError
from discorag.schema.values import Span
from discorag.text.escaping import NOT_XML

Constituent: TypeAlias = tuple[int, int]
"""EDUs ``[start, end)``, zero-based."""


@dataclass(frozen=True)
class SecondaryEdge:
    """A relation besides the tree, from one constituent to another."""

    source: Constituent
    target: Constituent
    label: str


@dataclass(frozen=True)
class Signal:
    """What shows a relation: that of a constituent to its parent, or a secondary edge's.

    ``about`` has the attributes of the file (type, subtype, tokens, status); tokens are counted from 1 over all EDUs.
    """

    source: Constituent | SecondaryEdge
    about: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RstFile:
    """The tree of an rs3 or rs4 file.

    Args:
        edus: Texts of the EDUs, as the file has them.
        splits: The n - 1 inner nodes in pre-order.
        edges: Secondary edges.
        signals: In the file's order.
    """

    edus: tuple[str, ...]
    splits: tuple[LabelledSplit, ...]
    edges: tuple[SecondaryEdge, ...] = ()
    signals: tuple[Signal, ...] = ()

    def places(self, text: str) -> tuple[Span, ...]:
        """Where each EDU stands in ``text``, which differs in white space only.

        Raises:
            InputError: The text differs in other characters; names the EDU.
        """
        where = [i for i, char in enumerate(text) if not char.isspace()]
        found, at = list[Span](), 0
        for number, edu in enumerate(self.edus, start=1):
            letters = "".join(edu.split())
            places = where[at : at + len(letters)]
            if "".join(text[i] for i in places) != letters or not places:
                raise InputError(f"The text does not have EDU {number}.", hint="Is the file's tree about this text?")
            found.append(Span(start=places[0], end=places[-1] + 1))
            at += len(letters)
        return tuple(found)


def read_rs4(xml: str) -> RstFile:
    """The tree of an rs3 or rs4 file.

    The header says which relations are multinuclear; if it names none, all children of a multinuc group are nuclei.

    Raises:
        InputError: It is not XML of this form, or its nodes do not form one tree over all EDUs.
    """
    try:
        root: Any = etree.fromstring(xml.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
        return _read(root)
    except (SyntaxError, InvariantError, KeyError, ValueError) as error:
        raise InputError(
            f"This is not the tree of an rs3 or rs4 file: {error}.", hint="Open and save it in rstWeb."
        ) from error


def _read(root: Any) -> RstFile:
    segments: list[Any] = root.findall("body/segment")
    nodes: dict[str, Any] = {node.attrib["id"]: node for node in (*segments, *root.findall("body/group"))}
    below: dict[str, list[str]] = defaultdict(list)
    for name, node in nodes.items():
        below[node.attrib.get("parent", "")].append(name)
    order = list(below[""])
    for name in order:  # grows: parents before their children
        order += below[name]
    if len(below[""]) != 1 or len(order) != len(nodes):
        raise InvariantError(f"it has {len(below[''])} roots, and {len(order)} of {len(nodes)} nodes below them")
    core: dict[str, Constituent] = {s.attrib["id"]: (i, i + 1) for i, s in enumerate(segments)}
    whole, splits = dict[str, Constituent](), list[LabelledSplit]()
    relations: list[Any] = root.findall("header/relations/rel")
    multinuclear: set[str] = {rel.attrib["name"] for rel in relations if rel.get("type") == "multinuc"}
    for name in reversed(order):
        children: list[tuple[str, str]] = [(child, nodes[child].attrib["relname"]) for child in below[name]]
        joins = nodes[name].get("type") == "multinuc"
        parts = [
            Part(*whole[child], relation, relation == "span" or (joins and (relation in multinuclear or not relations)))
            for child, relation in children
        ]
        nuclei = sorted(part for part in parts if part.is_nucleus)
        splits += join(nuclei)
        if name not in core:
            if not nuclei:
                raise InvariantError(f"group {name} has no nucleus below it")
            core[name] = (nuclei[0].start, nuclei[-1].end)
        satellites = (part for part in parts if not part.is_nucleus)
        around = sorted([Part(*core[name], "", is_nucleus=True), *satellites])
        splits += join(around)
        whole[name] = (around[0].start, max(part.end for part in around))
    if len(splits) != len(segments) - 1:
        raise InvariantError(f"{len(splits)} nodes join {len(segments)} EDUs")
    edges: dict[str, SecondaryEdge] = {
        edge.attrib["id"]: SecondaryEdge(
            core[edge.attrib["source"]], core[edge.attrib["target"]], edge.attrib["relname"]
        )
        for edge in root.findall("body/secedges/secedge")
    }
    signals = tuple(
        Signal(
            edges[source] if (source := signal.attrib["source"]) in edges else core[source],
            tuple((key, value) for key, value in signal.attrib.items() if key != "source"),
        )
        for signal in root.findall("body/signals/signal")
    )
    return RstFile(
        edus=tuple(" ".join((segment.text or "").split()) for segment in segments),
        splits=tuple(sorted(splits, key=lambda split: (split.start, -split.end))),
        edges=tuple(edges.values()),
        signals=signals,
    )


def write_rs4(file: RstFile) -> str:
    """The file as rs4, which `read_rs4` reads as the same, if no label is one of nuclei and of satellites.

    White space in EDUs is squeezed, and characters that XML cannot hold become U+FFFD.
    """
    root = etree.Element("rst")
    relations = etree.SubElement(etree.SubElement(root, "header"), "relations")
    kinds = {(s.label, "multinuc" if s.nuclearity is Nuclearity.NN else "rst") for s in file.splits}
    for label, kind in sorted(kinds | {(edge.label, "rst") for edge in file.edges}):
        etree.SubElement(relations, "rel", {"name": label, "type": kind})
    body = etree.SubElement(root, "body")
    parts = [*((i, i + 1) for i in range(len(file.edus))), *((s.start, s.end) for s in file.splits)]
    ids = {part: str(i) for i, part in enumerate(parts, start=1)}
    links = _links(file.splits, ids)
    for i, edu in enumerate(file.edus):
        segment = etree.SubElement(body, "segment", {"id": ids[i, i + 1], **links.get((i, i + 1), {})})
        segment.text = NOT_XML.sub("\ufffd", " ".join(edu.split()))
    for split in file.splits:
        part, kind = (split.start, split.end), "multinuc" if split.nuclearity is Nuclearity.NN else "span"
        etree.SubElement(body, "group", {"id": ids[part], "type": kind, **links.get(part, {})})
    named = {edge: f"{ids[edge.source]}-{ids[edge.target]}" for edge in file.edges}
    secondary = etree.SubElement(body, "secedges")
    for edge, name in named.items():
        ends = {"source": ids[edge.source], "target": ids[edge.target]}
        etree.SubElement(secondary, "secedge", {"id": name, **ends, "relname": edge.label})
    signals = etree.SubElement(body, "signals")
    for signal in file.signals:
        source = named[signal.source] if isinstance(signal.source, SecondaryEdge) else ids[signal.source]
        etree.SubElement(signals, "signal", {"source": source, **dict(signal.about)})
    return etree.tostring(root, encoding="unicode", pretty_print=True)


def _links(splits: Sequence[LabelledSplit], ids: Mapping[Constituent, str]) -> dict[Constituent, dict[str, str]]:
    """Each constituent except the root, with its parent and its relation to it."""
    found: dict[Constituent, dict[str, str]] = {}
    for split in splits:
        own, left, right = ids[split.start, split.end], (split.start, split.mid), (split.mid, split.end)
        if split.nuclearity is Nuclearity.NN:
            found |= {side: {"parent": own, "relname": split.label} for side in (left, right)}
        else:
            nucleus, satellite = (left, right) if split.nuclearity is Nuclearity.NS else (right, left)
            found |= {nucleus: {"parent": own, "relname": "span"}}
            found |= {satellite: {"parent": ids[nucleus], "relname": split.label}}
    return found
