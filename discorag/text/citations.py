"""Citations in plans and drafts: ``[2]`` for a chunk, ``[2.3]`` or ``[2.3-5]`` for units of it (one-based)."""

from __future__ import annotations

import re

from discorag.text.sentences import sentence_spans
from discorag.types.plan import Plan, PlanStep, Reference

_REFERENCE = re.compile(r"(?<!\\)\[(\d{1,4})(?:\.(\d{1,4})(?:-(\d{1,4}))?)?\]")


def references(text: str) -> tuple[Reference, ...]:
    """All references in ``text``, in order. A number below 1 or a range that runs backwards is no reference."""
    found: list[Reference] = []
    for chunk, first, last in _REFERENCE.findall(text):
        low = int(first) if first else None
        high = int(last) if last else low
        if int(chunk) < 1 or (low is not None and high is not None and not 1 <= low <= high):
            continue
        found.append(Reference(chunk=int(chunk), first=low, last=high))
    return tuple(found)


def steps(plan: Plan) -> tuple[PlanStep, ...]:
    """The plan's sentences in order, each with the references that it holds."""
    texts = (s.of(plan.paragraph) for s in sentence_spans(plan.paragraph))
    return tuple(PlanStep(text=t, references=references(t)) for t in texts)


def without_references(text: str, *, chunks: int) -> str:
    """``text`` without its references to chunks 1 to ``chunks`` and the space before them; escapes are undone."""
    bare = re.sub(r"\s*" + _REFERENCE.pattern, lambda m: "" if 1 <= int(m[1]) <= chunks else m[0], text)
    return bare.replace("\\[", "[")


def escaped(text: str) -> str:
    """``text`` of a source with a mark before everything that would read as a reference of ours."""
    return _REFERENCE.sub(lambda m: "\\" + m[0], text)


def with_citation(sentence: str, citation: str) -> str:
    """``sentence`` with a citation before its final punctuation, where no sentence splitter can part the two."""
    match = re.search(r"[.!?。！？…]+[\"'”’)\]」』]*$", sentence)
    at = match.start() if match else len(sentence)
    return f"{sentence[:at]} {citation}{sentence[at:]}"
