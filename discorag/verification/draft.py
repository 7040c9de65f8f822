"""The sentences of a draft, and which of them are headings."""

import re

from discorag.ingest.segment.sentence_table import folded
from discorag.schema.answer import AnswerInputs
from discorag.text.citations import without_references
from discorag.text.sentences import sentence_spans

_HASHES = re.compile(r"^\s*#{1,6}\s+")
_ENDING = re.compile(r"[.!?。！？…][\"'”’)\]」』]*\s*$")


def is_heading(sentence: str, inputs: AnswerInputs) -> bool:
    """Whether a sentence, without citations, is a heading in a passage or in the draft, so that it asserts nothing."""
    bare = _HASHES.sub("", sentence)
    if bare != sentence and not _ENDING.search(bare):
        return True
    units = [chunk.slice(span) for chunk in inputs.chunks for span in chunk.sentences]
    named = (h for c in inputs.chunks for h in (c.title, *c.headings))
    headings = {folded(_HASHES.sub("", h)) for h in (*named, *filter(_HASHES.match, units))}
    statements = {folded(u) for u in units if _ENDING.search(u) and not _HASHES.match(u)}
    return folded(bare) in headings - statements


def drafted_sentences(draft: str, chunks: int) -> list[str]:
    """The sentences of a draft with their citations; a sentence that is only citations is left out."""
    sentences = (span.of(line) for line in draft.splitlines() for span in sentence_spans(line))
    return [s for s in sentences if without_references(s, chunks=chunks).strip(" .。")]
