"""Text of a PDF that a line strikes out."""

from collections.abc import Iterable, Sequence

from discorag.ingest.convert.glyphs import Box, Glyph

_MIDDLE = (0.3, 0.6)  # of a glyph's height: a rule there strikes it out


def not_struck(glyphs: Iterable[Glyph], rules: Sequence[Box]) -> tuple[list[Glyph], int]:
    """The glyphs that no rule strikes out, and how many stretches were struck out."""
    near: dict[tuple[float, float], list[Box]] = {}  # the rules in the middle of a line, by its bottom and height
    kept: list[Glyph] = []
    struck, was_struck = 0, False
    for glyph in glyphs:
        if box := glyph.box:
            line = (box.bottom, box.height)
            if line not in near:
                near[line] = [rule for rule in rules if _crosses(rule, box)]
            is_struck = bool(near[line]) and _is_under(box, near[line])
            struck += is_struck and not was_struck
            was_struck = is_struck
            if is_struck:
                continue
        elif was_struck and kept and kept[-1].char == glyph.char == " ":
            continue
        kept.append(glyph)
    return kept, struck


def _is_under(box: Box, rules: Sequence[Box]) -> bool:
    return any(rule.left <= (box.left + box.right) / 2 <= rule.right for rule in rules)


def _crosses(rule: Box, box: Box) -> bool:
    low, high = (box.bottom + share * box.height for share in _MIDDLE)
    return low <= (rule.bottom + rule.top) / 2 <= high
