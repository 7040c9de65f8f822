"""What a verifier says of sentences whose documents are given, through the whole of it: chunks, units, citations."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from discorag.models.tokens import PackagedTokens
from discorag.text.chunks import cut_chunks
from discorag.text.headings import build_hierarchy
from discorag.types.case import Case
from discorag.types.document import Document, Scope
from discorag.verification.verifier import Verifier

_TOKENS = PackagedTokens()


@dataclass(frozen=True)
class Judged:
    """All sentences together.

    Args:
        supported: Whether every one is.
        score: The lowest confidence.
        seconds: Processor time; 0 unless timed.
    """

    supported: bool
    score: float
    seconds: float = 0.0


async def judged(verifier: Verifier, documents: Mapping[str, str], draft: str, *, timed: bool = False) -> Judged:
    """What the verifier says of a draft without citations over these documents.

    Where it is timed, the draft is judged a second time: the evidence's vectors are known then, as in a question.
    """
    made = [Document(uri=name, title=name, text=text) for name, text in documents.items()]
    cut = [
        chunk
        for d in made
        for chunk in cut_chunks(d, build_hierarchy(d), scope=Scope(), fingerprint="bench", counter=_TOKENS)
    ]
    case = Case(query=draft, chunks=tuple(cut))
    if timed:
        await verifier.verify(case, "An unrelated remark about nothing.")
    start = time.process_time()
    answer = await verifier.verify(case, draft)
    took = time.process_time() - start
    scores = [
        s.confidence if (s := sentence).confidence is not None else float(s.supported) for sentence in answer.sentences
    ]
    supported = bool(answer.sentences) and all(s.supported for s in answer.sentences)
    return Judged(supported, min(scores, default=0.0), took if timed else 0.0)
