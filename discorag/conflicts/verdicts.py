"""What two aligned statements say of each other: contradicts, replaced or differs, and why, in words.

Entity, period and version of the *documents* decide, and explicit times in the sentences. Conditions, speakers and
hedges are shown with a finding and never hide it.
"""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import groupby
from textwrap import shorten

from pydantic import BaseModel

from discorag.conflicts.alignment import Alignment
from discorag.conflicts.identity import DocumentIdentity
from discorag.conflicts.statements import RATHER, SMALL_WORDS, AuditDocument, Statement
from discorag.conflicts.values import Value, ValueKind, find_values
from discorag.schema.values import Region, Span, stable_id
from discorag.text.differences import differing_words


class Verdict(StrEnum):
    """How two statements relate."""

    CONTRADICTS = "contradicts"
    REPLACED = "replaced"
    DIFFERS = "differs"


class Tier(StrEnum):
    """How sure a finding is: ``sure`` are values in near-identical sentences; only these count for the exit code."""

    SURE = "sure"
    POSSIBLE = "possible"


class Side(BaseModel, frozen=True):
    """One side of a finding.

    Args:
        doc_id: The document.
        title: Its title.
        identity: Who and when it speaks for, in words; empty if unknown.
        chunk_id: The chunk that holds the sentence.
        span: The sentence, in document offsets.
        page: One-based page, None where the source has no pages.
        regions: The boxes of its lines there, for PDF.
        headings: Section headings, outermost first.
        field: The heading that the sentence is about, if it is only a field such as "Default: 10"; else empty.
        quote: The sentence on one line.
        lit: What differs, as spans of ``quote``.
        conditions: What limits or attributes the statement, in its own words.
    """

    doc_id: str
    title: str
    identity: str = ""
    chunk_id: str
    span: Span
    page: int | None = None
    regions: tuple[Region, ...] = ()
    headings: tuple[str, ...] = ()
    field: str = ""
    quote: str
    lit: tuple[Span, ...] = ()
    conditions: tuple[str, ...] = ()


class Finding(BaseModel, frozen=True):
    """Two statements that disagree.

    Args:
        id: The same for the same two sentences of the same two documents in every run.
        verdict: How they relate.
        tier: How sure that is.
        kind: What differs: the kind of value, ``polarity`` or ``name``.
        left: The older side where the order is known.
        right: The other.
        reason: Why, in one plain sentence.
        score: Order of findings within a tier: similarity of the two sentences.
    """

    id: str
    verdict: Verdict
    tier: Tier
    kind: str
    left: Side
    right: Side
    reason: str
    score: float

    @property
    def stated_reason(self) -> str:
        """The reason as an answer shows it, with "Possibly" where the finding is not sure."""
        return self.reason if self.tier is Tier.SURE else f"Possibly: {self.reason}"


_NOTED_CHANGE = re.compile(
    r"\b(?:as amended|no longer|formerly|previously|used to|until (?:then|now)"
    r"|(?:changed|added|removed|deprecated|new) in|since (?:[\w-]+ )?v?\d|as of version|superseded|replaces)\b",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"\b(?:if|unless|except|only|provided|when|until|among|in (?:adults|children|patients|people|those)"
    r"|according to|said|claims?|usually|typically|up to|at least|more than|over|about)\b[^,;.()]{0,60}(?!\w)",
    re.IGNORECASE,
)
NEGATED = re.compile(r"\b(?:not|no|never|without|cannot|neither|nor|\w+n['’]t)\b([^,;:]*)", re.IGNORECASE)
_OPPOSITES = (
    ("must", "may"), ("required", "optional"), ("enabled", "disabled"), ("allowed", "forbidden"), ("always", "never"),
    ("increased", "decreased"), ("increases", "decreases"), ("raised", "lowered"), ("rose", "fell"),
    ("higher", "lower"), ("more", "less"), ("all", "none"), ("true", "false"), ("before", "after"),
    ("permitted", "prohibited"), ("mandatory", "voluntary"), ("minimum", "maximum"), ("open", "closed"),
    ("if", "unless"), ("with", "without"), ("including", "excluding"), ("possible", "impossible"), ("can", "cannot"),
)  # fmt: skip
_AS_OF = re.compile(r"\b(?:as (?:of|at)|ended|during) $", re.IGNORECASE)
"""Words before a date on which a statement holds: such a date is not a claim."""
_CONVERTED = re.compile(r" ?\((?:[A-Z]{2,3} ?)?[$€£]?[\d,.]+(?: ?[A-Z]{3})?\)")
"""After an amount that the same sentence gives in another currency."""
_RETIRED = frozenset({"superseded", "withdrawn", "obsolete", "deprecated", "archived"})
_TITLE = 60  # characters of a document's title in a reason
LEAST_COMMON = 2
"""Words that two sentences without a common name need in common to speak of one subject."""
SOME_SUBJECT = 0.15
"""Least share of common names of two documents that may speak of one subject."""
TERM = 2
"""A name that a document uses more often than this may be a term of the document."""
CLOSE_WORDING = 0.7
"""Least overlap of two statements that differ in a name, an opposite or a negation."""


def judge(pair: Alignment, documents: Sequence[AuditDocument]) -> Finding | None:
    """The finding about two aligned statements, None if they do not disagree."""
    left, right = documents[pair.left.document], documents[pair.right.document]
    if left.has_other_subject(right):
        return None
    differing = _differing(pair)
    others = [s for s in differing if s[0].kind is not ValueKind.DATE]
    dates = [s for s in pair.slots if s[0].kind is ValueKind.DATE and s[0].excludes(s[1])]
    times = dates if others else [s for s in differing if s in dates]
    if any(not a.is_comparable(b) for a, b in pair.slots) or len(times) > 1:
        return None
    if not others and not times:
        return _wording_finding(pair, documents)
    if pair.has_other_subject and not left.is_version_of(right):
        return None
    slot = (others or times)[0]
    if _name_documents(slot, (left.identity, right.identity)):
        return None
    sides = zip((pair.left, pair.right), zip(*(others or times), strict=True), strict=True)
    lit = [span for s, values in sides if (span := _list_around(s, values))]
    if len(lit) < 2 or (len(others) > 1 and not left.is_other_release_than(right)):
        return None
    tier = Tier.SURE if _is_sure(pair, left, right) else Tier.POSSIBLE
    says_when = any(map(_says_when, (pair.left, pair.right), slot))
    texts = [s.text[span.start : span.end] for s, span in zip((pair.left, pair.right), lit, strict=True)]
    verdict, reason = _explain(pair, documents, texts, times if others or says_when else [], slot)
    return _finding(pair, documents, verdict, tier, slot[0].kind.value, reason, lit)


def _list_around(statement: Statement, values: Collection[Value]) -> Span | None:
    """The list that holds all of these values, such as "3.8, 3.9 and 3.10"; None if no single list does."""
    for _, tokens in groupby(statement.tokens, lambda t: isinstance(t, Value) or t in {"and", "or"}):
        listed = [t for t in tokens if isinstance(t, Value)]
        if set(values) <= set(listed):
            return Span(start=listed[0].span.start, end=listed[-1].span.end)
    return None


def _says_when(statement: Statement, value: Value) -> bool:
    return value.kind is ValueKind.DATE and bool(_AS_OF.search(statement.text[: value.span.start]))


def _is_converted(statement: Statement, value: Value) -> bool:
    return bool(_CONVERTED.match(statement.text, value.span.end))


def _differing(pair: Alignment) -> list[tuple[Value, Value]]:
    """Values at one place that exclude each other; "10 and 20, respectively" and "10" do not."""
    agreed = [s for s in pair.slots if s[0].text == s[1].text]
    left, right = (
        [v for v in statement.values if all(v is not slot[side] for slot in agreed)]
        for side, statement in enumerate((pair.left, pair.right))
    )
    return [(a, b) for a, b in pair.slots if a.excludes(b) and not (a.is_among(right) or b.is_among(left))]


def _is_sure(pair: Alignment, left: AuditDocument, right: AuditDocument) -> bool:
    """Whether near-identical sentences speak of one subject: "The median age was 40 years" does not say whose.

    Two pages of one release often say the same of two things, such as two models.
    """
    statements = (pair.left, pair.right)
    is_one_release = any(left.release) and left.release == right.release
    if is_one_release or pair.has_other_subject or left.shared_names(right) < SOME_SUBJECT:
        return False
    if any(s.is_example for s in statements):
        return False
    if left.is_version_of(right) or pair.left.names_a_default:
        return True
    says_of_what = bool(pair.left.names & pair.right.names) or len(pair.common) >= LEAST_COMMON
    if not left.identity.entity or left.identity.entity != right.identity.entity:
        says_of_what &= not any(s.points_beyond_itself for s in statements)
    is_numbered = all(any(word[0].isdigit() for word in words) for words in pair.only)  # "section 3", "section 4"
    return says_of_what and not any(pair.names) and not is_numbered


def _wording_finding(pair: Alignment, documents: Sequence[AuditDocument]) -> Finding | None:
    """Almost the same words, but one names something else, or denies what the other says."""
    only_names = all(set(o) - SMALL_WORDS == set(n) for o, n in zip(pair.only, pair.names, strict=True))
    last = [{name.rpartition(".")[2] for name in names} for names in pair.names]  # "http.Request", "web.Request"
    if all(pair.names) and only_names and last[0] != last[1]:
        return _name_finding(pair, documents)
    one, other = ({w.casefold() for w in words} for words in pair.only)
    opposed = next(((a, b) for two in _OPPOSITES for a, b in (two, two[::-1]) if a in one and b in other), None)
    denied = bool(NEGATED.search(pair.left.text)) != bool(NEGATED.search(pair.right.text)) and not all(pair.names)
    if pair.overlap < CLOSE_WORDING or not (opposed or denied):
        return None
    verdict, reason = _explain(pair, documents, opposed)
    return _finding(pair, documents, verdict, Tier.POSSIBLE, "polarity", reason)


def _name_finding(pair: Alignment, documents: Sequence[AuditDocument]) -> Finding | None:
    """Another name in the same place; none if each document has its own in its title.

    If each name is a term of its document, there is none either, except between two releases.
    """
    left, right = documents[pair.left.document], documents[pair.right.document]
    old, new = pair.names
    if left.is_titled(old) and right.is_titled(new):
        return None
    (old_left, old_right), (new_left, new_right) = ((left.uses(names), right.uses(names)) for names in (old, new))
    are_terms = old_left > max(TERM, RATHER * old_right) and new_right > max(TERM, RATHER * new_left)
    if not left.is_other_release_than(right) and (are_terms or pair.overlap < CLOSE_WORDING):
        return None
    verdict, reason = _explain(pair, documents, (" ".join(old), " ".join(new)))
    return _finding(pair, documents, verdict, Tier.POSSIBLE, "name", reason)


def _explain(
    pair: Alignment,
    documents: Sequence[AuditDocument],
    texts: Sequence[str] | None,
    times: Sequence[tuple[Value, Value]] = (),
    slot: tuple[Value, Value] | None = None,
) -> tuple[Verdict, str]:
    """The verdict, and the reason in one sentence; ``texts``: what differs, None if one side denies the other."""
    left, right = documents[pair.left.document], documents[pair.right.document]
    one, other = left.identity, right.identity
    claim = _claim(left, right, texts)
    change = f"Changed from {texts[0]} to {texts[1]}" if texts else "Changed to the opposite"
    if times and slot == times[0]:
        return Verdict.DIFFERS, f"The same is said of {times[0][0].text} and of {times[0][1].text}."
    if times:
        return Verdict.DIFFERS, f"{claim}; they speak of {times[0][0].text} and of {times[0][1].text}."
    if slot and slot[0].kind is ValueKind.MONEY and all(map(_is_converted, (pair.left, pair.right), slot)):
        return Verdict.DIFFERS, f"{claim}; both give the amount in another currency too."
    if one.version and other.version and one.version != other.version:
        return Verdict.REPLACED, f"{change} between version {one.version} and version {other.version}."
    if one.status != other.status:
        which, status = (left, one.status) if one.status else (right, other.status)
        return _replaced_if_ordered(one, other), f'{claim}; "{which.title}" is marked as {status}.'
    known = max([*_years(one), *_years(other)], default=9999)
    same_time = any(a.kind is ValueKind.DATE and 0 < a.parts[0] <= known and not a.excludes(b) for a, b in pair.slots)
    if one.period and other.period and one.period != other.period and not same_time:
        return Verdict.DIFFERS, f"{claim}; the documents report on {one.period} and on {other.period}."
    if any(_NOTED_CHANGE.search(s.text) for s in (pair.left, pair.right)):
        return _replaced_if_ordered(one, other), f"{claim}; one of the sentences says that this has changed."
    newer = " and is newer" if () < _date(one) < _date(other) else ""
    return Verdict.CONTRADICTS, f"{claim}{newer}."


def _claim(left: AuditDocument, right: AuditDocument, texts: Sequence[str] | None) -> str:
    """Which document says what, by their titles if these differ."""
    titles = [shorten(d.title, _TITLE, placeholder="…") for d in (left, right)]
    one, other = (f'"{t}"' for t in titles) if titles[0] != titles[1] else ("The first", "the second")
    return f"{one} says {texts[0]}, {other} says {texts[1]}" if texts else f"{one} says the opposite of {other}"


def _replaced_if_ordered(one: DocumentIdentity, other: DocumentIdentity) -> Verdict:
    """REPLACED if it is known which document is newer, by a status, two versions or two dates."""
    retired = (one.status in _RETIRED) != (other.status in _RETIRED)
    both = retired or (one.version and other.version) or (one.date and other.date)
    return Verdict.REPLACED if both and age(one) != age(other) else Verdict.DIFFERS


def _name_documents(slot: tuple[Value, Value], identities: tuple[DocumentIdentity, DocumentIdentity]) -> bool:
    """Whether two values say which documents these are: their versions, their dates, or years of their periods."""
    match slot[0].kind:
        case ValueKind.VERSION:
            return all(map(_is_own_version, slot, identities))
        case ValueKind.DATE:
            is_date = all(value.parts == _date(identity) for value, identity in zip(slot, identities, strict=True))
            return is_date or (slot[0].parts[0] != slot[1].parts[0] and all(map(_is_own_period, slot, identities)))
        case _:
            return False


def _is_own_version(value: Value, identity: DocumentIdentity) -> bool:
    """Whether a version is the one that a document speaks for, the one before it, or the next ("removed in 3.0")."""
    own = _numbers(identity.version)
    near = [(*own[:at], number + step) for at, number in enumerate(own) for step in (-1, 1)]
    return value.parts in (own[: len(value.parts)], *near, *((*version, 0) for version in near))


def _is_own_period(value: Value, identity: DocumentIdentity) -> bool:
    """Whether a date lies in the period that a document reports on, or in the one before, which it compares with."""
    return any(year - 1 <= value.parts[0] <= year for year in _years(identity))


def _years(identity: DocumentIdentity) -> list[int]:
    return [v.parts[0] for v in find_values(identity.period) if v.kind is ValueKind.DATE]


def _finding(
    pair: Alignment, documents: Sequence[AuditDocument], verdict: Verdict, tier: Tier, kind: str, reason: str,
    lit: Sequence[Span] = (),
) -> Finding:  # fmt: skip
    statements = (pair.left, pair.right)
    spans = [(span,) for span in lit] or differing_words(pair.left.text, pair.right.text)
    sides = [_side(s, documents[s.document], own) for s, own in zip(statements, spans, strict=True)]
    key = stable_id(*sorted(f"{s.doc_id}:{s.quote}:{s.field}".removesuffix(":") for s in sides))
    return Finding(
        id=key, verdict=verdict, tier=tier, kind=kind, left=sides[0], right=sides[1], reason=reason, score=pair.overlap
    )


def _side(statement: Statement, document: AuditDocument, lit: tuple[Span, ...]) -> Side:
    return Side(
        doc_id=document.id,
        title=document.title,
        identity=str(document.identity),
        chunk_id=statement.chunk.id,
        span=statement.sentence.span,
        page=statement.chunk.page_at(statement.sentence.span.start),
        regions=statement.chunk.regions_at(statement.sentence.span),
        headings=statement.sentence.headings,
        field=statement.heading if statement.names_a_default else "",
        quote=statement.text,
        lit=lit,
        conditions=tuple(m[0].strip() for m in CONDITION.finditer(statement.text)),
    )


def age(identity: DocumentIdentity) -> tuple[bool, tuple[int, ...], tuple[int, ...]]:
    """What orders documents from old to new: retired ones first, then version, then date."""
    return identity.status not in _RETIRED, _numbers(identity.version), _date(identity)


def _date(identity: DocumentIdentity) -> tuple[int, ...]:
    return next((v.parts for v in find_values(identity.date) if v.kind is ValueKind.DATE), ())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
