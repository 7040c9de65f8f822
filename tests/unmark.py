"""The inverse of `discorag.discourse.parse.inline.mark`, for texts without tables, lists, code and marks."""

import re
from itertools import accumulate, pairwise

from discorag.schema.discourse import BY_CODE, Nuclearity, RstTree, Split, from_splits
from discorag.schema.values import Span

_MARK = re.compile(rf"\{{([1-9][0-9]{{0,4}})([<>=])({'|'.join(BY_CODE)})\}}")
_NUCLEARITY = {"<": Nuclearity.NS, ">": Nuclearity.SN, "=": Nuclearity.NN}


def unmark(marked: str, *, offset: int) -> tuple[str, RstTree]:
    """The text and the tree of what `mark` returned; inside a span, the shallowest gap is where it is cut."""
    fields = _MARK.split(marked)
    pieces = fields[::4]
    bounds = pairwise(accumulate(map(len, pieces), initial=offset))
    edus = tuple(
        Span(start=end - len(piece.lstrip()), end=start + len(piece.rstrip()))
        for piece, (start, end) in zip(pieces, bounds, strict=True)
    )
    depths = [int(depth) for depth in fields[1::4]]
    splits: dict[tuple[int, int], Split] = {}
    spans = [(0, len(pieces))]
    while spans:
        start, end = spans.pop()
        if end - start > 1:
            mid = min(range(start + 1, end), key=lambda m: depths[m - 1])
            arrow, code = fields[4 * mid - 2 : 4 * mid]
            splits[start, end] = Split(
                start=start, mid=mid, end=end, relation=BY_CODE[code], nuclearity=_NUCLEARITY[arrow]
            )
            spans += [(start, mid), (mid, end)]
    return "".join(pieces), from_splits(edus, splits)
