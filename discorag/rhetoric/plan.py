"""The discourse plan: one paragraph, and the steps derived from it (Disco-RAG section 3, fig. 12).

The paragraph is the plan: it is what a model writes, what a person edits in Studio, and what is stored. A sentence
cites chunks as ``[2]`` and, where it is as exact as that, units of a chunk as ``[2.3]`` or ``[2.3-5]`` (one-based).
"""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from discorag.text.sentences import sentence_spans

_REFERENCE = re.compile(r"(?<!\\)\[(\d{1,4})(?:\.(\d{1,4})(?:-(\d{1,4}))?)?\]")


class Reference(BaseModel):
    """A citation inside a plan: chunk number and, if given, an inclusive range of its units; all one-based."""

    model_config = ConfigDict(frozen=True)

    chunk: int = Field(ge=1)
    first: int | None = None
    last: int | None = None


class PlanStep(BaseModel):
    """One sentence of the plan and what it cites, in order."""

    model_config = ConfigDict(frozen=True)

    text: str
    references: tuple[Reference, ...] = ()


class Plan(BaseModel):
    """A plan as its paragraph; ``steps`` are derived, so that an edited paragraph is an edited plan."""

    model_config = ConfigDict(frozen=True)

    paragraph: str

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """The plan's sentences in order, each with the references that it holds."""
        texts = (s.of(self.paragraph) for s in sentence_spans(self.paragraph))
        return tuple(PlanStep(text=t, references=references(t)) for t in texts)


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
