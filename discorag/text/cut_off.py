"""Repairs of output that was cut off at its limit: JSON is closed, prose ends at its last whole sentence."""

from __future__ import annotations

import json
import re

from pydantic_core import from_json

from discorag.text.sentences import sentence_spans

_OPEN_NUMBER = re.compile(r"[-+.\deE]+\Z")  # more digits may have followed
_WHOLE = re.compile(r"[.!?。！？…][\"'”’)\]」』*]*\Z")


def close_json(text: str) -> str:
    """Cut-off JSON, closed after its last whole value; compact.

    Raises:
        ValueError: It is not the beginning of JSON.
    """
    return json.dumps(from_json(_OPEN_NUMBER.sub("", text), allow_partial=True), separators=(",", ":"))


def whole_sentences(text: str) -> str:
    """Cut-off prose up to its last whole sentence.

    Raises:
        ValueError: There is none.
    """
    text = text.rstrip()
    sentences = sentence_spans(text)
    if not _WHOLE.search(text):
        sentences = sentences[:-1]
    if not sentences or not _WHOLE.search(text[: sentences[-1].end]):
        raise ValueError("It holds no whole sentence.")
    return text[: sentences[-1].end]
