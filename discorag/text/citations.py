"""Citations in plans and drafts: ``[2]`` for a chunk, ``[2.3]`` or ``[2.3-5]`` for its units (one-based)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from discorag.schema.discourse import Plan, PlanStep, Reference
from discorag.text.sentences import sentence_spans

_REFERENCE = re.compile(r"(?<!\\)\[([0-9]{1,4})(?:\.([0-9]{1,4})(?:-([0-9]{1,4}))?)?\](?!\()")
_ESCAPED = re.compile(r"\\(\\*\[)")
_NEAR = 200
"""Characters before a reference that are read to tell whether it is copied."""


def references(text: str) -> tuple[Reference, ...]:
    """All references in ``text``, in order. A number below 1 or a range that runs backwards is not a reference."""
    found: list[Reference] = []
    for chunk, first, last in _REFERENCE.findall(text):
        low = int(first) if first else None
        high = int(last) if last else low
        if int(chunk) < 1 or (low is not None and high is not None and not 1 <= low <= high):
            continue
        found.append(Reference(chunk=int(chunk), first=low, last=high))
    return tuple(found)


def format_reference(reference: Reference) -> str:
    """A reference as it is written."""
    first, last = reference.first, reference.last
    unit = "" if first is None else f".{first}" if last in (None, first) else f".{first}-{last}"
    return f"[{reference.chunk}{unit}]"


def unknown_passages(found: Iterable[Reference], passages: Sequence[str]) -> list[Reference]:
    """References to passages that do not exist, each once; one that a passage contains itself does not count."""
    beyond = dict.fromkeys(r for r in found if r.chunk > len(passages))
    return [r for r in beyond if not any(format_reference(r) in passage for passage in passages)]


def steps(plan: Plan) -> tuple[PlanStep, ...]:
    """The plan's sentences in order, each with its references."""
    texts = (s.of(plan.paragraph) for s in sentence_spans(plan.paragraph))
    return tuple(PlanStep(text=t, references=references(t)) for t in texts)


def with_steps(plan: Plan) -> Plan:
    """The plan with its sentences as steps."""
    return plan.model_copy(update={"steps": steps(plan)})


def without_references(text: str, *, chunks: int) -> str:
    """``text`` without references to chunks 1 to ``chunks`` and the white space before them; escapes are undone."""
    return "".join(piece for piece, _ in _pieces(text, chunks))


def place_references(text: str, *, chunks: int) -> list[tuple[int, int]]:
    """For each reference to chunks 1 to ``chunks``, its place in the text without them and white space around it.

    The place is the number of characters before the reference; the other number is the chunk's.
    """
    found, at = list[tuple[int, int]](), 0
    text = text.lstrip()
    for piece, chunk in _pieces(text, chunks):
        at += len(piece) if at else len(piece.lstrip())
        found += [(at, chunk)] * bool(chunk)
    return found


def _pieces(text: str, chunks: int) -> Iterator[tuple[str, int]]:
    """The text before each reference with the chunk's number, then the rest with 0."""
    at = 0
    for match in re.finditer(r"\s*" + _REFERENCE.pattern, text):
        if 1 <= int(match[1]) <= chunks:
            yield _ESCAPED.sub(r"\1", text[at : match.start()]), int(match[1])
            at = match.end()
    yield _ESCAPED.sub(r"\1", text[at:]), 0


def without_unknown(text: str, passages: Sequence[str]) -> str:
    """``text`` without references to passages that do not exist, and without the white space before them.

    A reference stays if a passage contains it.
    """

    def keep_known(match: re.Match[str]) -> str:
        known = 1 <= int(match[1]) <= len(passages) or any(match[0].lstrip() in p for p in passages)
        return match[0] if known else ""

    return re.sub(r"\s*" + _REFERENCE.pattern, keep_known, text)


def escape_references(text: str) -> str:
    """``text`` of a source with a backslash before references and before backslashes that would escape one."""
    return re.sub(r"\\+\[|" + _REFERENCE.pattern, lambda m: "\\" + m[0], text)


def without_copied(text: str, passages: Sequence[str]) -> str:
    """A model's ``text`` with copied references escaped: those that a passage has after the same word."""
    return _REFERENCE.sub(lambda m: "\\" * is_copied(m, passages) + m[0], text)


def is_copied(match: re.Match[str], passages: Sequence[str]) -> bool:
    """Whether a passage has what was matched in a text after the same word."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    word = before.split()[-1] if before.strip() else ""
    copied = " ".join(f"{word}{' ' * before[-1:].isspace()}{match[0]}".split())
    return bool(word) and any(word in p and copied in " ".join(p.split()) for p in passages if match[0] in p)


def split_references(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of ``text``, each with whether it is a reference; escapes in other pieces are undone."""
    at = 0
    for match in _REFERENCE.finditer(text):
        yield _ESCAPED.sub(r"\1", text[at : match.start()]), False
        yield match[0], True
        at = match.end()
    yield _ESCAPED.sub(r"\1", text[at:]), False


def renumber(text: str, numbers: Mapping[int, Sequence[int]]) -> str:
    """``text`` in which references to a chunk become references to whole chunks by ``numbers``; others are escaped."""

    def cited(match: re.Match[str]) -> str:
        return "".join(f"[{n}]" for n in numbers.get(int(match[1]), ())) or "\\" + match[0]

    return _REFERENCE.sub(cited, text)


def with_citation(sentence: str, citation: str) -> str:
    """``sentence`` with a citation before its final punctuation, so that no sentence splitter separates them."""
    match = re.search(r"(?<!\s)[.!?。！？…]+[\"'”’)\]」』]*$", sentence)
    at = match.start() if match else len(sentence)
    return f"{sentence[:at]} {citation}{sentence[at:]}"
