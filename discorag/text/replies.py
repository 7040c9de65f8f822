"""The named parts of a language model's reply, whatever formatting the model adds around their names."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_FILLER = r"(?:(?:\d[.)]|here|is|are|the|my|final|rst|elementary|discourse|units)[ (]+)*"


def parts_of(reply: str, *names: str) -> dict[str, str]:
    r"""What stands under each name, as far as the reply has it; of two parts of one name the last counts.

    A name begins a line and ends with a colon, fills its line, or is in capitals. It may be a heading, in bold, in a
    list, in any case, in the plural; "Here is the" and the like may precede it, a remark in brackets may follow it.

    Args:
        reply: The model's text.
        names: In capitals, as the prompt writes them.
    """
    either = "|".join(map(re.escape, names))
    named = rf"(?i:{_FILLER}({either})s?\)?)(?:[ \t]*\([^()\n]*\))?[*_`]*[ \t]*(?:[:：][*_`]*|$)|({either})(?=\s)"
    headers = list(re.finditer(rf"^[^\w\n\[]*(?:{named})[ \t]*", text := without_fences(reply), re.MULTILINE))
    ends = [*(header.start() for header in headers[1:]), len(text)]
    return {(h[1] or h[2]).upper(): text[h.end() : end].strip() for h, end in zip(headers, ends, strict=False)}


def without_fences(reply: str) -> str:
    """The reply without the lines that open and close blocks of code."""
    return _FENCE.sub("", reply.replace("\r\n", "\n"))
