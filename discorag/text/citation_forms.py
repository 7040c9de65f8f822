"""Citations as models write them (``【1】``, ``[Passage 1]``, ``[1, 3]``), in the one form that we read, ``[1]``.

A citation is the number of a passage that was given, in one of the known brackets. ``(1)`` and ``¹`` count only if the
reply cites in no other form, and at the end of a sentence or clause. A number that names a part of something else
(``Section [2]``, ``[2] of the statute``, but not ``a shorter version [2]``), a year, or one in code is none, and
neither is what a passage has itself.
"""

import re
from collections.abc import Callable, Sequence

from discorag.text.citations import is_copied

_NOUN = (
    r"(?:passages?|sources?|documents?|docs?|chunks?|texts?|excerpts?|evidence|references?|refs?|citations?|ids?"
    r"|passagen?|quellen?|dokumente?|段落|资料|来源|文档|文献)"
)
_NUMBER = r"\d{1,4}(?:\.\d{1,4}(?:-\d{1,4})?|\s?[-–—]\s?\d{1,4})?"
_ITEM = (
    rf"(?:(?:see|cf\.?|siehe|vgl\.)\s)?(?:(?:{_NOUN}[\s_:#.=]{{0,3}}){{1,2}}|[cpsd#^])?"
    rf"[\[\"]?({_NUMBER})[\]\"]?(?:\^|(?::\d{{1,3}})?†[^\]】,]{{0,30}})?"
)
_NEXT = r"\s{0,2}(?:[,;，；、/&]|\band\b|\bund\b|和)(?:\s{0,2}(?:and|&))?\s{0,2}"
_LIST = rf"\s{{0,2}}({_ITEM}(?:{_NEXT}{_ITEM}){{0,15}})[\s,;]{{0,2}}"
_OPENING, _CLOSING = r"(\[{1,2}|【|［|〔|⟦|\\\[|[(（])", r"(\]{1,2}|】|］|〕|⟧|\\\]|[)）])"
_BOXED = re.compile(
    rf"(?<!\\)(?:(?<!\w){_NOUN}(?=\[)|\^)?{_OPENING}{_LIST}{_CLOSING}(?:\(#[^()\s]*\)|(?!\())", re.IGNORECASE
)
_TAGGED = re.compile(rf"<(sup|cite|ref|citation)\b[^<>]*>\s*[\[(]?{_LIST}[\])]?\s*</\1>", re.IGNORECASE)
_PAIRS = {"[": "]", "【": "】", "［": "］", "〔": "〕", "⟦": "⟧", "\\[": "\\]", "(": ")", "（": "）"}

_PLAIN = r"\[\d{1,4}(?:\.\d{1,4}(?:-\d{1,4})?)?\]"
_AROUND = re.compile(rf"(\*{{1,2}}|__?|`)((?:{_PLAIN})+)\1")
_IN_PARENTHESES = re.compile(
    rf"[(（]\s*(?:(?:see|cf\.?|{_NOUN})[\s:]*)?({_PLAIN}(?:(?:{_NEXT}|\s{{0,2}}){_PLAIN}){{0,15}})\s{{0,2}}[)）]",
    re.IGNORECASE,
)
_COMMA = re.compile(rf"({_PLAIN})\s*[,;，；、]\s*(?={_PLAIN})")
_ON_ITS_LINE = re.compile(rf"(\S)[ \t]{{0,2}}\n{{1,2}}[ \t]*((?:{_PLAIN}[ \t]*)+)(?=\n|\Z)")
_LISTED = re.compile(
    rf"\n[ *_#]{{0,6}}{_NOUN}[ *_]{{0,4}}[:：][ *_]{{0,4}}((?:\n{{0,2}}[-*• \t]{{0,6}}{_PLAIN}[^\n\[]*)+)\n*\Z",
    re.IGNORECASE,
)

_END = r"(?=[*_]{0,2}\s?(?:[.,;:!?。，；：！？]|\n|\Z))"
_BARE = re.compile(rf"(?:（|(?<![A-Za-z0-9_\])])[({{])\s*(\d{{1,3}}(?:{_NEXT}\d{{1,3}}){{0,15}})\s?[)）}}]{_END}")
_RAISED = re.compile(rf"(?:(?<=[a-z]{{4}})|(?<=[.!?。！？]))([⁰¹²³⁴-⁹]+(?:[˒,]\s?[⁰¹²³⁴-⁹]+)*)(?:{_END}|(?=\s[A-Z]))")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹˒", "0123456789,")

_PART = (
    r"(?:section|article|clause|paragraph|rule|footnote|note|figure|fig\.|table|step|item|page|line|equation|eq\.|part"
    r"|chapter|appendix|version|§+|abschnitt|artikel|absatz|第)"
)
_NUMBERS = r"(?:interval|range|list|array|index|vector|∈)"
_OF_SOMETHING = re.compile(rf"(?:^|\s)(?:{_PART}|{_NUMBERS})\s*\Z", re.IGNORECASE)
_DESCRIBED = re.compile(
    rf"\b(?:an?|the|this|that|these|its|their|his|her|our|each|every)\s(?:[\w'’-]+\s){{0,3}}{_PART}\s*\Z", re.IGNORECASE
)
_SUBJECT = re.compile(r"(?:\A|[.!?:;]\s+|\n|\b(?:under|in|by|per|with)\s+)\Z", re.IGNORECASE)
_GOES_ON = re.compile(r"\s{1,2}(?:of|von|der|des)\b")
_ASSIGNED = re.compile(r"\s?(?:[-+*/]?=|\.[A-Za-z_]+\()")

_NEAR = 200
"""Characters around a number that are read to tell whether it is a citation."""


def has_citation(text: str) -> bool:
    """Whether ``text`` cites in the form that we read."""
    return bool(re.search(rf"(?<!\\\\){_PLAIN}", text))


def cited_in_brackets(text: str, passages: Sequence[str], *, bare: bool | None = None) -> str:
    """A model's ``text`` with its citations of ``passages`` as ``[1]``; a number in brackets that is none is escaped.

    ``bare`` says whether ``(1)`` is a citation, for a piece of a reply; None: it is if no other form is in the text.

    >>> cited_in_brackets("It is red【1】. It is [Passage 2] new. It holds 70 l [1, 2].", ["a", "b"])
    'It is red[1]. It is [2] new. It holds 70 l [1][2].'
    """

    def rewritten(find: re.Pattern[str], text: str, numbers: Callable[[re.Match[str]], str | None]) -> str:
        def one(match: re.Match[str]) -> str:
            new = None if is_copied(match, passages) else numbers(match)
            return match[0] if new is None else new

        return find.sub(one, text)

    k = len(passages)
    text = rewritten(_TAGGED, text, lambda m: _cited(m[2], k))
    text = rewritten(_BOXED, text, lambda m: _boxed(m, k))
    if bare or (bare is None and not has_citation(text)):
        text = rewritten(_BARE, text, lambda m: _cited(m[1], k))
        text = rewritten(_RAISED, text, lambda m: " " + c if (c := _cited(m[1].translate(_DIGITS), k)) else None)
    text = _IN_PARENTHESES.sub(lambda m: "".join(re.findall(_PLAIN, m[1])), _AROUND.sub(r"\2", text))
    return _ON_ITS_LINE.sub(r"\1 \2", _without_list(_COMMA.sub(r"\1", text)))


def _boxed(match: re.Match[str], k: int) -> str | None:
    """The citations in a pair of brackets; None if they hold something else."""
    opening, inside, closing = match[1], match[2], match[match.lastindex or 0]
    if _PAIRS[opening[:2].replace("[[", "[")] != closing.replace("]]", "]"):
        return None
    has_noun = bool(re.search(_NOUN, inside, re.IGNORECASE))
    if opening in "(（" and not has_noun:
        return None
    numbers = [int(n) for n in re.findall(r"(?<![\d.-])\d+", inside)]
    if opening == "[" and not has_noun and (_is_no_citation(match) or numbers[0] >= 1000 > k):
        return "\\" + match[0] if re.fullmatch(_PLAIN, match[0]) else None
    return match[0] if re.fullmatch(_PLAIN, match[0]) else _cited(inside, k, may_be_unknown=has_noun or opening == "【")


def _cited(inside: str, k: int, *, may_be_unknown: bool = False) -> str | None:
    """``[1][3]`` for a list of numbers and ranges; None if one of them is no passage's."""
    found: list[str] = []
    for number in re.findall(_NUMBER, re.sub(r"(?::\d+)?†[^,;]*", "", inside)):
        first, *last = re.split(r"\s?[-–—]\s?", number) if "." not in number else [number]
        chunks = range(int(first), int(last[0]) + 1) if last else [int(first.split(".")[0])]
        if not chunks or not (may_be_unknown or all(1 <= chunk <= k for chunk in chunks)) or len(chunks) > max(k, 1):
            return None
        found += [f"[{chunk}]" for chunk in chunks] if last else [f"[{first}]"]
    return "".join(dict.fromkeys(found)) or None


def _is_no_citation(match: re.Match[str]) -> bool:
    """Whether a number in square brackets is a part of something else, or code."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    after = match.string[match.end() : match.end() + _NEAR]
    line = before.rpartition("\n")[2]
    if line.count("`") % 2 and "`" in after.partition("\n")[0]:
        return not (line.endswith("`") and after.startswith("`"))
    is_subject = bool(_GOES_ON.match(after)) and bool(_SUBJECT.search(before))
    is_part = bool(_OF_SOMETHING.search(before)) and not _DESCRIBED.search(before)
    return is_part or is_subject or bool(_ASSIGNED.match(after))


def _without_list(text: str) -> str:
    """``text`` without a list of sources at its end; what they are goes to the last sentence if no sentence cites."""
    listed = _LISTED.search(text)
    if listed is None:
        return text
    body = text[: listed.start()].rstrip()
    return body if has_citation(body) else f"{body} {''.join(dict.fromkeys(re.findall(_PLAIN, listed[1])))}"
