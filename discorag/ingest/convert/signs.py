"""Mathematical signs of TeX's fonts, which a PDF draws without saying which they are."""

import re
from collections.abc import Mapping

# For a sign whose name it does not know, PDFium gives its place in the font as ASCII: "0" for a prime.
_SIGNS = dict(zip("%&'0123456789>?]`abcdehijklmoqrtuvw", "↗↘≃′∞∈∋△▽\u0338↦∀∃⊤⊥⊎⊢⊣⌊⌋⌈⌉⟨⟩|∥↕⇕≀⨿∇⊔⊓⊑⊒", strict=True))
_LARGE = {
    **dict(zip("PQRSTUVWXYZ[\\]^_pqrs", "∑∏∫⋃⋂⊎⋀⋁∑∏∫⋃⋂⊎⋀⋁√√√√", strict=True)),
    **dict(zip("0123456789:;<=>?@ABCDE", "⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪⏐⎝⎠⎜⎟⟨⟩", strict=True)),
    **dict(zip('\x00\x01\x02\x03\x08\x10\x11\x12\x13\x14\x15\x1a\x1b!"#hi', "()[]{()()[]{})[][]", strict=True)),
}
_FONTS = ((re.compile(r"CMB?SY\d+"), _SIGNS), (re.compile(r"CMEX\d+"), _LARGE))


def signs_of(font: str) -> Mapping[str, str]:
    """The sign for each character that PDFium reads in one of TeX's fonts of signs; empty for all other fonts."""
    return next((signs for pattern, signs in _FONTS if pattern.fullmatch(font)), dict[str, str]())
