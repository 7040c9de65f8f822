"""Finds EDUs that a language model copied out of a text in that text."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from discorag.discourse.parse.inline import unescape
from discorag.schema.values import Span

LIKENESS = 0.8
"""The least share of letters and digits that an EDU and a model's copy of it have in common."""
_QUOTE = 60  # characters of a text that an error message shows


def align_edus(edus: Sequence[str], text: str, *, offset: int) -> tuple[Span, ...]:
    """The spans of the EDUs that a model copied, in document offsets, if ``text`` starts at ``offset``.

    They hold all of the text except white space. Small slips do no harm, since the copies are aligned with the text:
    straightened quotes, a dropped full stop or heading mark, a typing error.

    Raises:
        ValueError: A copy and its place in the text differ in too many letters and digits.
    """
    if not edus:
        raise ValueError("There are no EDUs. Copy the whole text into them, word for word.")
    where = [i for i, char in enumerate(text) if not char.isspace()]
    copies = ["".join(edu.split()) for edu in _unescape(edus, text)]
    starts = list(accumulate(map(len, copies), initial=0))
    matches = _matches("".join(copies), "".join(text.split()))
    cuts = [0, *(_cut(matches, start, where) for start in starts[1:-1]), len(where)]
    spans: list[Span] = []
    for number, (copy, (first, end)) in enumerate(zip(copies, pairwise(cuts), strict=True), start=1):
        source = text[where[first] : where[end - 1] + 1] if first < end else ""
        if not source or _likeness(copy, source) < LIKENESS:
            raise ValueError(
                f"EDU {number} is {_quote(edus[number - 1])} where the text has {_quote(source)}. "
                "Copy the text word for word and in its order; leave nothing out, add nothing, repeat nothing."
            )
        spans.append(Span(start=where[first] + offset, end=where[end - 1] + 1 + offset))
    return tuple(spans)


def _unescape(edus: Sequence[str], text: str) -> Sequence[str]:
    """EDUs as ``text`` has them: copied from the prompt they are escaped, unless they are just as long as it."""
    return edus if _length("".join(edus)) == _length(text) else [unescape(edu) for edu in edus]


def _length(text: str) -> int:
    return sum(map(len, text.split()))


def _likeness(copy: str, source: str) -> float:
    """Share of their letters and digits that both have in the same order."""
    a, b = ("".join(filter(str.isalnum, text)) for text in (copy, source))
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _matches(copy: str, text: str) -> list[int | None]:
    """The index in the text of every character of the copy; None if it was added."""
    matches: list[int | None] = [None] * len(copy)
    for at, there, size in SequenceMatcher(None, copy, text, autojunk=False).get_matching_blocks():
        matches[at : at + size] = range(there, there + size)
    return matches


def _cut(matches: Sequence[int | None], start: int, where: Sequence[int]) -> int:
    """Where the EDU whose copy starts at ``start`` begins.

    If the copy skips characters there, those up to the first white space belong to the previous EDU.
    """
    before = next((at + 1 for at in reversed(matches[:start]) if at is not None), 0)
    after = next((at for at in matches[start:] if at is not None), len(where))
    spaced = (at for at in range(max(before, 1), after) if where[at] > where[at - 1] + 1)
    return next(spaced, after)


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTE else text[:_QUOTE] + "...")
