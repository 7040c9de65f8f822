"""An audit for the tools around a repository: SARIF, JUnit's XML, and Markdown for a comment on a pull request."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from discorag.conflicts.verdicts import Finding, Side, Tier, Verdict
from discorag.ingest.convert.encoding import decode_text
from discorag.ingest.loaders import bytes_of
from discorag.schema.errors import InputError
from discorag.text.escaping import NOT_XML, code_span, markdown
from interfaces.audit import AuditReport
from interfaces.views.audit import group_findings, more_pairs, place, summary

COMMENT = "<!-- disco-rag audit -->"
"""The first line of the Markdown, by which a workflow finds its comment again."""
_LEVELS = {Tier.SURE: "warning", Tier.POSSIBLE: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LARGEST = 50_000_000  # bytes of a file in which lines are counted
_LISTED = 30
"""Findings that a comment lists: GitHub refuses long ones."""
_MEANINGS = {
    Verdict.CONTRADICTS: "Two documents that speak for the same thing and time contradict each other.",
    Verdict.REPLACED: "A statement was replaced by that of a newer document.",
    Verdict.DIFFERS: "Two documents differ, and there is a reason why both may be right.",
}


class Lines(NamedTuple):
    """Where a sentence stands in a text file: lines and columns from 1; ``end_column`` is behind its last character."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


class Places:
    """Finds the sentences of a report in its files.

    Args:
        report: The report.
        root: The folder to which names of files are relative, if the files are in it.
    """

    def __init__(self, report: AuditReport, root: Path) -> None:
        self._files = {d.doc_id: Path(d.uri) for d in report.documents}
        self._root = root.resolve()
        self._read = cache(_read_text)

    def is_inside(self, doc_id: str) -> bool:
        """Whether the document's file is below the root."""
        return self._files[doc_id].is_relative_to(self._root)

    def name(self, doc_id: str) -> str:
        """The document's file, relative to the root if it is inside."""
        file = self._files[doc_id]
        return (file.relative_to(self._root) if self.is_inside(doc_id) else file).as_posix()

    def lines(self, side: Side) -> Lines | None:
        """The lines of the sentence; None for files that are no text, and where a converter has changed the words."""
        text = self._read(self._files[side.doc_id]) if side.page is None else ""
        words = r"[\s>]+".join(map(re.escape, side.quote.split()))
        found = min(re.finditer(words, text), key=lambda m: abs(m.start() - side.span.start), default=None)
        if not text or found is None:
            return None
        ends = [(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) for at in found.span()]
        return Lines(*ends[0], *ends[1])

    def where(self, side: Side) -> str:
        """File and line, or file and page."""
        lines = self.lines(side)
        detail = f":{lines.start_line}" if lines else f", page {side.page}" if side.page else ""
        return f"{self.name(side.doc_id)}{detail}"


def _read_text(file: Path) -> str:
    """The text of a file as it lies there; empty if it is gone or is no text."""
    try:
        return decode_text(bytes_of(file, max_bytes=_LARGEST), file).text
    except InputError:
        return ""


def audit_sarif(report: AuditReport, root: Path) -> dict[str, Any]:
    """SARIF 2.1.0: one result per open finding, with a location on each side.

    Args:
        report: The report.
        root: The folder of the repository, to which names of files are relative.
    """
    places, sure = Places(report, root), {finding.id for finding in report.contradictions}
    results = [
        {
            "ruleId": finding.verdict.value,
            "level": "error" if finding.id in sure else _LEVELS[finding.tier],
            "message": {"text": f"{finding.reason} {finding.left.quote} / {finding.right.quote}"},
            "locations": [_location(places, finding.left)],
            "relatedLocations": [_location(places, finding.right) | {"id": 1}],
            "partialFingerprints": {"finding": report.names.get(finding.id, finding.id)},
        }
        for finding in report.open
    ]
    rules = [{"id": v.value, "shortDescription": {"text": text}} for v, text in _MEANINGS.items()]
    tool = {"driver": {"name": "disco-rag", "rules": rules}}
    run = {"tool": tool, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _location(places: Places, side: Side) -> dict[str, Any]:
    """A sentence's file with its lines, for PDFs with its page and the boxes of its lines."""
    name = quote(places.name(side.doc_id), safe="/:")
    artifact = {"uri": name, "uriBaseId": "%SRCROOT%"} if places.is_inside(side.doc_id) else {"uri": f"file://{name}"}
    region: dict[str, Any] = {"snippet": {"text": side.quote}}
    if lines := places.lines(side):
        names = ("startLine", "startColumn", "endLine", "endColumn")
        region |= dict(zip(names, lines, strict=True))
    if side.page:
        region["properties"] = {"page": side.page, "regions": [box.model_dump() for box in side.regions]}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}, "message": {"text": place(side)}}


def audit_junit(report: AuditReport, root: Path) -> str:
    """JUnit's XML: a test for each document, which fails if it has a sure, open contradiction."""
    places = Places(report, root)
    problems: dict[str, list[str]] = defaultdict(list)
    for finding in report.contradictions:
        for own, other in ((finding.left, finding.right), (finding.right, finding.left)):
            texts = (f"{places.where(side)}: {side.quote}" for side in (own, other))
            problems[own.doc_id].append("\n".join((finding.reason, *texts)))
    counts = {"tests": str(len(report.documents)), "failures": str(len(problems))}
    suites = Xml.Element("testsuites", counts)
    suite = Xml.SubElement(suites, "testsuite", {"name": "disco-rag audit", "errors": "0", "skipped": "0", **counts})
    for document in report.documents:
        names = {"classname": _xml(report.corpus), "name": _xml(places.name(document.doc_id)), "time": "0"}
        test = Xml.SubElement(suite, "testcase", names)
        if own := problems[document.doc_id]:
            message = {"message": _xml(own[0].partition("\n")[0]), "type": Verdict.CONTRADICTS.value}
            Xml.SubElement(test, "failure", message).text = _xml("\n\n".join(own))
    Xml.indent(suites)
    return Xml.tostring(suites, "unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    return NOT_XML.sub(" ", text)


def audit_markdown(report: AuditReport, root: Path) -> str:
    """Markdown for a comment: the summary, and the first open findings, alike ones once."""
    places, groups = Places(report, root), group_findings(report.open)
    lines = [COMMENT, "### Do the documents agree?", "", markdown(summary(report)), ""]
    for group in groups[:_LISTED]:
        lines += _item(report, places, group)
    if len(groups) > _LISTED:
        lines += ["", f"{len(groups) - _LISTED} more are in the full report."]
    return "\n".join(lines).rstrip() + "\n"


def _item(report: AuditReport, places: Places, group: Sequence[Finding]) -> list[str]:
    finding = group[0]
    name = f" {code_span(report.names[finding.id])}" if finding.id in report.names else ""
    lines = [
        f"- **{finding.verdict.value.capitalize()}** ({finding.tier.value}){name}: {markdown(finding.reason, 300)}"
    ]
    lines += [f"  - {code_span(places.where(s))}: {markdown(s.quote, 600)}" for s in (finding.left, finding.right)]
    return [*lines, *([f"  - {more_pairs(group)}"] if len(group) > 1 else [])]
