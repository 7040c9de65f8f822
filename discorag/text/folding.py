"""One form for characters that mean the same, in which texts are searched and compared; stored text keeps its own."""

import re
import unicodedata

_RAISED = "ª²³¹ºʰ-ʸˠ-ˤᴬ-ᵡᵸᶛ-ᶿ⁰-ⁿ℠™"
_LOWERED = "ᵢ-ᵪ₀-ₜⱼ"
_APART = "¼-¾⅐-⅟↉①-⓿❶-➓"  # fractions and numbers in circles: none continues the number before it
_MARKED = re.compile(rf"(?P<raised>[{_RAISED}]+)|(?P<after_digit>(?<=\d)[{_LOWERED}]+)|(?P<apart>[{_APART}])")
_JOINING = {0x2010: "-", 0x2011: "-", 0x2044: "/", 0xAD: None, 0x2060: None, 0xFEFF: None}


def fold(text: str) -> str:
    """``text`` in Unicode's compatibility form (NFKC): full-width letters, half-width kana and ligatures as usual ones.

    Values stay what they are: 10⁶ becomes "10^6", 10₂ "10_2", and 1½ "1 1/2". All kinds of hyphens are one.

    >>> fold("ＡＢＣ‑１２３")
    'ABC-123'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _MARKED.sub(_spell_out, text)).translate(_JOINING)


def _spell_out(match: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKC", match[0])
    match match.lastgroup:
        case "raised":
            return f"^{plain}"
        case "after_digit":
            return f"_{plain}"
        case _:
            return f" {plain} "
