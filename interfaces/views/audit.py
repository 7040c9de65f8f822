"""An audit as text for the terminal, and as one offline HTML file."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from rich.console import Group, RenderableType
from rich.text import Text

from discorag.conflicts.verdicts import Finding, Side, Tier, Verdict
from discorag.text.escaping import one_line
from discorag.text.terms import terms
from interfaces.audit import AuditReport

_STYLES = {Verdict.CONTRADICTS: "bold red", Verdict.REPLACED: "bold cyan", Verdict.DIFFERS: "bold yellow"}
_AROUND = 90
"""Characters of a sentence that the terminal shows on each side of what differs."""
_TARGET = re.compile(r" ?<https?://[^>\s]*>?")
_ABOUT = "Each finding quotes two documents; what differs is marked. The surest come first."
_STYLE = """
:root { color-scheme: light dark; --lit: #ffe08a; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --lit: #6b5200; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem; margin: 1rem 0; }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5rem; overflow-wrap: anywhere; }
@media (max-width: 42rem) { .sides { grid-template-columns: minmax(0, 1fr); } }
.sides p { white-space: pre-line; } blockquote { margin: .25rem 0; } mark { background: var(--lit); color: inherit; }
.place, .more { font-size: .85rem; opacity: .75; } h3 { margin: 0 0 .25rem; font-size: 1rem; }
"""


def summary(report: AuditReport) -> str:
    """One line: how many documents, and how many findings of each kind; similar ones count once."""
    nouns = {
        Verdict.CONTRADICTS: "contradiction",
        Verdict.REPLACED: "replaced statement",
        Verdict.DIFFERS: "explained difference",
    }
    groups = group_findings(report.open)
    sure = Counter(group[0].verdict for group in groups if group[0].tier is Tier.SURE)
    possible, settled = len(groups) - sure.total(), len(report.findings) - len(report.open)
    parts = [
        _count(n, noun) for verdict, noun in nouns.items() if (n := sure[verdict]) or verdict is Verdict.CONTRADICTS
    ]
    parts += [f"{_count(possible, 'possible finding')} to check"] if possible else []
    parts += [f"{settled} settled"] if settled else []
    return f"{_count(len(report.documents), 'document')} in {report.corpus}: {', '.join(parts)}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def audit_text(report: AuditReport, limit: int = 50) -> RenderableType:
    """The summary, then the open findings, alike ones once."""
    lines: list[RenderableType] = [Text(summary(report))]
    groups = group_findings(report.open)
    for group in groups[:limit]:
        finding = group[0]
        lines.append(Text(""))
        head = Text(finding.verdict.value.capitalize(), _STYLES[finding.verdict])
        name = f" {report.names[finding.id]}" if finding.id in report.names else ""
        head.append(f" ({finding.tier.value}){name}: ", "dim").append(one_line(finding.reason, 300))
        lines.append(head)
        lines += [_side_text(side) for side in (finding.left, finding.right)]
        if len(group) > 1:
            lines.append(Text(f"  {more_pairs(group)}", "dim"))
    if len(groups) > limit:
        lines.append(Text(f"\n{len(groups) - limit} more: use --format html or json to see all."))
    return Group(*lines)


def group_findings(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Group findings that come from one change, or from one sentence in many versions; their order stays.

    Two changes are the same if their reason is, and they concern a name, or a value in sentences that share a word.
    """
    groups: list[list[Finding]] = []
    known: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        quotes = (finding.left.quote, finding.right.quote)
        keys = [(finding.verdict, finding.kind, text) for text in (*quotes, *_changes(finding))]
        group = next((known[key] for key in keys if key in known), None)
        if group is None:
            groups.append(group := [])
        group.append(finding)
        known |= dict.fromkeys(keys, group)
    return groups


def _changes(finding: Finding) -> list[str]:
    """What may have changed: a name, or a value next to a word that both sentences have."""
    if finding.kind == "polarity":
        return []
    if finding.kind == "name":
        return [finding.reason]
    left, right = ({term for term in terms(side.quote) if term.isalpha()} for side in (finding.left, finding.right))
    return [f"{word} {finding.reason}" for word in sorted(left & right)]


def more_pairs(group: Sequence[Finding]) -> str:
    """How many further pairs of sentences a group has."""
    return f"The same in {_count(len(group) - 1, 'more pair')} of sentences."


def _side_text(side: Side) -> Text:
    """The place of a side, and below it the words around the difference."""
    found = Text(f"  {place(side)}\n", "dim").append("    ")
    pieces = list(_pieces(side))
    if len(pieces) > 1:
        (before, _), *middle, (after, _) = pieces
        start = before if len(before) <= _AROUND else "…" + before[-_AROUND:].partition(" ")[2]
        end = after if len(after) <= _AROUND else after[:_AROUND].rpartition(" ")[0] + "…"
        pieces = [(start, False), *middle, (end, False)]
    for piece, is_lit in pieces:
        found.append(piece, "bold reverse" if is_lit else "not dim")
    return found


def place(side: Side) -> str:
    """Title, identity, section and page of a side, on one line."""
    page = f", page {side.page}" if side.page else ""
    section = f", section {side.headings[-1]}" if side.headings else ""
    speaks = f" ({side.identity})" if side.identity else ""
    return one_line(f"{side.title}{speaks}{section}{page}", 200)


def _pieces(side: Side) -> Iterator[tuple[str, bool]]:
    """The pieces of the quote, each with whether it differs; link targets and invisible characters are left out."""
    text, at = "".join(c if c.isprintable() else " " for c in side.quote), 0
    for span in sorted(side.lit, key=lambda s: s.start):
        yield _TARGET.sub("", text[at : span.start]), False
        yield text[span.start : span.end], True
        at = span.end
    yield _TARGET.sub("", text[at:]), False


def audit_html(*reports: AuditReport, appendix: str = "") -> str:
    """One file without scripts or links: every finding with both sentences, the values lit, and the reason.

    Args:
        reports: One or more audits, each under its own heading.
        appendix: HTML after them.
    """
    title = f"Audit of {escape(', '.join(r.corpus for r in reports))}"
    sections = "\n".join(
        f"<h2>{escape(report.corpus)}</h2><p>{escape(summary(report))}</p>\n"
        + "\n".join(_article(group) for group in group_findings(report.open))
        for report in reports
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1><p>{_ABOUT}</p>\n{sections}\n{appendix}</body></html>\n"
    )


def _article(group: Sequence[Finding]) -> str:
    finding = group[0]
    sides = _side_html(finding.left, finding.right) + _side_html(finding.right, finding.left)
    also = f'<p class="more">{more_pairs(group)}</p>' if len(group) > 1 else ""
    head = f"{finding.verdict.value.capitalize()} ({finding.tier.value})"
    return f'<article><h3>{head}</h3><p>{escape(finding.reason)}</p><div class="sides">{sides}</div>{also}</article>'


def _side_html(side: Side, other: Side) -> str:
    """One side, with the conditions that only this side has."""
    said = "".join(f"<mark>{escape(p)}</mark>" if lit else escape(p) for p, lit in _pieces(side))
    lit = [side.quote[span.start : span.end] for span in side.lit]
    own = [c for c in side.conditions if c not in other.conditions and not any(text in c for text in lit)]
    limits = f'<p class="place">Limits: {escape(_TARGET.sub("", "; ".join(own)))}</p>' if own else ""
    return f'<div><blockquote>{said}</blockquote><p class="place">{escape(place(side))}</p>{limits}</div>'
