"""What a verifier says of a sentence whose documents are given: chunks, places and lookups included."""

from __future__ import annotations

from collections.abc import Mapping

from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.models.tokens import PackagedTokens
from discorag.schema.answer import AnswerInputs, AnswerSentence, Support
from discorag.schema.document import Document, Scope
from discorag.verification.verifier import Verifier

_TOKENS = PackagedTokens()


async def judged(verifier: Verifier, documents: Mapping[str, str], draft: str) -> tuple[AnswerSentence, ...]:
    """Return what the verifier says of a draft without citations over these documents, sentence by sentence."""
    made = [Document(uri=name, title=name, text=text) for name, text in documents.items()]
    chunks = [
        chunk
        for d in made
        for chunk in cut_chunks(d, build_hierarchy(d), scope=Scope(), fingerprint="bench", counter=_TOKENS)
    ]
    return (await verifier.verify(AnswerInputs(query=draft, chunks=tuple(chunks)), draft)).sentences


def state_of(sentences: tuple[AnswerSentence, ...]) -> Support:
    """Return the state of several sentences together: the worst one."""
    states = {s.support for s in sentences}
    return next(s for s in (Support.NOT_SUPPORTED, Support.NOT_VERIFIED, Support.SUPPORTED) if s in states)
