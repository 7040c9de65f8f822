"""A language model's reply: its named parts in any customary formatting, and repairs of a reply that was cut off.

JSON that was cut off is closed; prose ends with its last whole sentence.
"""

import json
import re

from pydantic_core import from_json

from discorag.text.sentences import sentence_spans

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_FILLER = r"(?:(?:\d[.)]|here|is|are|the|my|final|rst|elementary|discourse|units)[ (]+)*"


def parts_of(reply: str, *names: str) -> dict[str, str]:
    """The parts of a reply by their names; if two parts have the same name, the last one counts.

    ``names`` are in capitals, as the prompt writes them. In the reply a name begins a line, and it ends with a colon,
    fills its line, or is in capitals. It may be a heading, bold, a list item, in any case, or in the plural. "Here is
    the" and the like may precede it; a remark in brackets may follow it.
    """
    either = "|".join(map(re.escape, names))
    named = rf"(?i:{_FILLER}({either})s?\)?)(?:[ \t]*\([^()\n]*\))?[*_`]*[ \t]*(?:[:：][*_`]*|$)|({either})(?=\s)"
    headers = list(re.finditer(rf"^[^\w\n\[]*(?:{named})[ \t]*", text := without_fences(reply), re.MULTILINE))
    ends = [*(header.start() for header in headers[1:]), len(text)]
    return {(h[1] or h[2]).upper(): text[h.end() : end].strip() for h, end in zip(headers, ends, strict=False)}


def without_fences(reply: str) -> str:
    """The reply without the lines that open and close blocks of code."""
    return _FENCE.sub("", reply.replace("\r\n", "\n"))


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
