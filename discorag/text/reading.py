"""How a unit reads as prose: on one line, without the marks of layout and markup around its words."""

from __future__ import annotations

import re
from itertools import zip_longest

from discorag.text.layout import without_tags
from discorag.text.sentences import language_of
from discorag.text.tables import cells
from discorag.types.hierarchy import UnitKind

_FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n?|\n?[ \t]*(```+|~~~+)\s*$")
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_ADDRESS = re.compile(r"<((?:https?|mailto):[^<>\s]+)>")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*]+)(?<=\S)\1(?![\w*])|(?<![\w_])_(?=\S)([^_]+)(?<=\S)_(?![\w_])")
_STRONG = re.compile(r"(?<![\w_])__(?=\S)([^_]*\s[^_]*)(?<=\S)__(?![\w_])")
_QUOTES = re.compile(r"(?<![^\s(])``(?!\S+``)\s?((?:(?!``|'').)+?)\s?''")  # of LaTeX and of treebanks
_HOLLOW = re.compile(r"(?<=\()\]?\s*[;,][;,\s]*(?=\w)")  # an opening bracket whose first part was taken out
_UNCLOSED = re.compile(r"(?<!\S)``\s|(?<=[.,!?])\s''(?=\s|$)")
_PADDED = re.compile(r"(?<=\()\s+(?=\w)|(?<=\w)\s+(?=\))")
_ZERO_WIDTH = str.maketrans("", "", "\u200b\u200c\u2060\ufeff")
_NAMED = re.compile(r"(?<![\w`]):[\w:+.-]+:(?=`)|`([^`<>]+?)\s*<[^<>`]+>`_{0,2}(?!\w)|`([^`]+)`__?(?!\w)")  # of reST
_CODE = re.compile(r"(`+)\s?([^`]+?)\s?\1")
_ESCAPE = re.compile(r"\\([_*#&%<>|~])")
_OPENING = re.compile(r"^(?:>\s?|#{1,6}\s+|[-*+•‣◦▪●·□■]\s+(?:\[[ xX]\]\s+)?|\\item\b\s*)+")
_NUMBER = re.compile(
    r"^(?:\d{1,3}[.)]|[(（][0-9A-Za-z]{1,4}[)）]|[a-z]\)|\d{1,3}、|\d{1,3}[.．](?=[\u3400-\u9fff])|[（(]?[一二三四五六七八九十]{1,3}[）)、])\s*(?=\S)"
)
_NOISE = re.compile(r"\{[^{}\\]*\}|(?<=\s)\[[a-z]+\](?=\s|$)")
_BEFORE_MARK = re.compile(r"(?<=\w)\s+(?=[,.;:!?](?:\s|$))|(?<=\w)\s+(?=(?:n't|'(?:s|t|re|ve|m|ll|d))\b)")
_SOFT_HYPHEN = re.compile("[\u2010\u00ad]\n\\s*")
_HYPHEN = re.compile(r"(?<=[^\W\d_]-)\n\s*(?=[^\W\d_])")
_PLACE = re.compile(r"\s*\(?BIBREF\d+(?:, BIBREF\d+)*\)?")  # of a reference that a corpus of papers took out
_POINTER = re.compile(r"\s*\\(?:cite\w*|ref|eqref|label|footnote)\*?(?:\[[^\]]*\])*\{[^{}]*\}")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?\s*\{([^{}]*)\}")
_SYMBOL = re.compile(r"\\([A-Za-z]+)\s*|\\[,;:!\\ ]")
_SIGNS = {
    "left": "", "right": "", "ldots": "...", "dots": "...", "cdots": "...", "in": "∈", "times": "×", "cdot": "·",
    "to": "→", "rightarrow": "→", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "mid": "|",
    "approx": "≈", "pm": "±", "infty": "∞", "quad": "", "text": "", "mathrm": "", "mathcal": "", "mathbf": "",
}  # fmt: skip
_MATH = re.compile(r"\$([^$\n]{1,200})\$")
_IS_MATH = re.compile(r"[\\^_{}=<>]|^\s*\w\s*$")
_ENDING = re.compile(r"[.!?。！？…:：;；][\"'”’)\]」』`]*$")


def reads(text: str, kind: UnitKind = UnitKind.PROSE, header: str = "") -> str:
    """A unit's text as prose.

    Args:
        text: As the source has it.
        kind: What it is.
        header: Of a table's row, the header row.
    """
    if kind is UnitKind.CODE:
        lines = (" ".join(line.replace("`", "").split()) for line in _FENCE.sub("", text).split("\n"))
        return " ".join(f"`{line}`" for line in lines if line)
    if kind is UnitKind.ROW:
        return ended(row_reads(text, header))
    if kind is UnitKind.TURN:
        text = _NOISE.sub(" ", text)
    bare = plain(text)
    return ended(_NUMBER.sub("", bare)) if kind is UnitKind.ITEM else bare


def plain(text: str) -> str:
    """``text`` on one line without bullets, emphasis, links, tags and commands; numbers of a list stay."""
    seen = text.translate(_ZERO_WIDTH)
    bare = _OPENING.sub("", " ".join(_HYPHEN.sub("", _SOFT_HYPHEN.sub("", seen)).split()))
    bare = _without_links(bare)
    if "BIBREF" in bare:
        bare = _PLACE.sub(_left_open, bare)
    if "\\" in bare or "$" in bare:
        bare = _without_commands(bare)
    if "``" in bare:
        bare = _QUOTES.sub(r"“\1”", bare)
    if "(" in bare:
        bare = _PADDED.sub("", _HOLLOW.sub("", bare))
    bare = _CODE.sub(r"\2", _STRONG.sub(r"\1", _EMPHASIS.sub(lambda m: m[2] or m[3], bare)))
    if "''" in bare or "``" in bare:
        bare = _UNCLOSED.sub(lambda m: "“" if m[0][0] == "`" else "”", bare)
    return " ".join(_BEFORE_MARK.sub("", bare).split())


def _without_links(bare: str) -> str:
    """With the words of links in the place of links, and without tags."""
    if "[" in bare:
        bare = _LINK.sub(r"\1", _IMAGE.sub("", _LINK.sub(r"\1", _IMAGE.sub("", bare))))
    if "`" in bare:
        bare = _NAMED.sub(lambda m: m[1] or m[2] or "", bare)
    if "<" in bare:
        bare = without_tags(_ADDRESS.sub(r"\1", bare))
    return bare


def _left_open(place: re.Match[str]) -> str:
    """The bracket that closes one before the place."""
    before = place.string[: place.start()]
    return ")" if place[0].endswith(")") and "(" not in place[0] and before.count("(") > before.count(")") else ""


def ended(sentence: str) -> str:
    """``sentence`` with a full stop, if nothing ends it."""
    if not sentence or _ENDING.search(sentence):
        return sentence
    return sentence + ("。" if language_of(sentence) == "zh" else ".")


def row_reads(row: str, header: str = "") -> str:
    """A row of a table as prose: ``Revenue, 2023: 2,018; 2022: 1,900``.

    Args:
        row: Its cells as the source sets them apart; the first says what it is about.
        header: The table's header row, if it has one.
    """
    values = [plain(cell) for cell in cells(row)] or [""]
    names = [name if any(map(str.isalnum, name)) else "" for name in map(plain, cells(header))] if header else []
    if not row.startswith("|"):
        names = _over(names, len(values))
    subject = _NUMBER.sub("", values[0]) + (f" {names[0]}" if names and names[0].startswith(("(", "（")) else "")
    pairs = dict.fromkeys((n, v) for n, v in zip_longest(names[1:], values[1:], fillvalue="") if v)
    wide = language_of(row) == "zh"
    colon, semicolon, comma = ("：", "；", "，") if wide else (": ", "; ", ", ")
    told = semicolon.join(f"{n}{colon}{v}" if n else v for n, v in pairs)
    if not subject or not told:
        return subject or told
    return f"{subject}{comma if pairs and next(iter(pairs))[0] else colon}{told}"


def _over(names: list[str], columns: int) -> list[str]:
    """Names for that many columns, where white space sets cells apart and empty ones cannot be seen."""
    if len(names) == columns - 1:  # nothing stands over the first
        return ["", *names]
    return names[:1] + names[len(names) - columns + 1 :] if len(names) > columns else names


def _without_commands(text: str) -> str:
    """Without the commands of LaTeX that only mark, and with formulas as their letters."""
    bare = _MATH.sub(lambda m: _formula(m[1]) if _IS_MATH.search(m[1]) else m[0], _POINTER.sub("", text))
    while bare != (inner := _COMMAND.sub(r"\1", bare)):
        bare = inner
    return _ESCAPE.sub(r"\1", bare)


def _formula(inner: str) -> str:
    while inner != (shorter := _COMMAND.sub(r"\1", inner)):
        inner = shorter
    spelled = _SYMBOL.sub(lambda m: f"{said} " if (said := _SIGNS.get(m[1], m[1] or " ")) else "", inner)
    return " ".join(re.sub(r"[{}]|(?:^|(?<=[A-Za-z]))_(?=\{?\d)", "", spelled).split())
