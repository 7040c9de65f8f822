"""Equations of web pages (MathML) and office files (OMML) in one line: ``1/2``, ``10^6``, ``sum_(i=1)^n x_i``.

Brackets are added where the line would say something else without them. Nothing is computed or simplified.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

EQUATION = "equation"
UNREADABLE = "[equation]"
"""Replaces an equation that cannot be put in a line."""

_INVISIBLE = str.maketrans("", "", "\u2061\u2062\u2063\u2064\u200b")
_OPERATORS = {"∑": "sum", "∏": "prod", "∫": "int"}
_ACCENTS = {
    **dict.fromkeys("¯‾\u0304\u0305_―", "bar"),
    **dict.fromkeys("^ˆ\u0302", "hat"),
    **dict.fromkeys("~˜∼\u0303", "tilde"),
    **dict.fromkeys("→⃗\u20d7", "vec"),
    **dict.fromkeys("˙.\u0307", "dot"),
    **dict.fromkeys("¨\u0308", "ddot"),
}
_RAISED_SIGNS = {"∘": "°", "°": "°", "'": "′"} | {c * n: c * n for c in "′″‴" for n in (1, 2, 3)}
_WHOLE = re.compile(r"[+\u2212-]?(?:\d[\d.,]*%?|[^\W\d_]+)|\W")
_CALL = re.compile(r"(?:[^\W\d_]{2,})?\(")
_RELATION = re.compile(r"[=<>≤≥≈≠≡∼≃≅∝→⇒⇔∈⊂⊆]")


class _Piece(NamedTuple):
    """A part of an equation: its text, and whether letters or digits right before or behind it are not part of it."""

    text: str
    opens: bool = False
    closes: bool = False


_NOTHING = _Piece("")


class _UnreadableError(Exception):
    """The equation is laid out in a way that a line cannot say."""


def linear(equation: _Element) -> str:
    """An element ``math``, ``oMath`` or ``oMathPara`` in one line; `UNREADABLE` if no line can say it."""
    try:
        return " ".join(_read(equation).text.split())
    except _UnreadableError:
        return UNREADABLE


def beside(before: str, equation: str, after: str) -> str:
    """An equation, set apart by a space from a letter or digit right before or after it: "3 1/2"."""
    if not equation or equation.isalpha() or equation.isdecimal():
        return equation
    left = " " if before[-1:].isalnum() and equation[0].isalnum() else ""
    right = " " if after[:1].isalnum() and equation[-1].isalnum() else ""
    return f"{left}{equation}{right}"


def _read(element: _Element) -> _Piece:
    name = _name(element)
    read = _READERS.get(name)
    if read is not None:
        return read(element)
    if name.endswith("Pr"):
        return _NOTHING
    raise _UnreadableError(name)


def _name(element: _Element) -> str:
    return re.split("[}:]", element.tag)[-1]


def _children(element: _Element) -> list[_Element]:
    return [child for child in element.iterchildren("*") if not _name(child).endswith("Pr")]


def _part(element: _Element, name: str) -> _Piece:
    """The child of this name; empty if there is none."""
    return next((_read(child) for child in _children(element) if _name(child) == name), _NOTHING)


def _property(element: _Element, name: str, default: str) -> str:
    """The value of an OMML element's property."""
    found = next(
        (
            child
            for part in element.iterchildren("*")
            if _name(part).endswith("Pr")
            for child in part.iterchildren("*")
            if _name(child) == name
        ),
        None,
    )
    if found is None:
        return default
    return next((value for key, value in found.attrib.items() if str(key).endswith("val")), "")


def _join(pieces: Iterable[_Piece]) -> _Piece:
    """Pieces in a row."""
    found = [piece for piece in pieces if piece.text]
    if len(found) == 1:
        return found[0]
    text, closes = "", False
    for piece in found:
        touches = (text[-1:].isalnum() or text[-1:] in tuple(")]")) and piece.text[0].isalnum()
        is_factor = closes and piece.text[0] == "(" and "/" in text
        gap = " " if is_factor or (touches and (closes or piece.opens)) else ""
        is_divided = text[-1:] in tuple("/÷") and "/" in piece.text
        text, closes = f"{text}{gap}{_bracketed(piece) if is_divided else piece.text}", piece.closes
    return _Piece(text)


def _row(element: _Element) -> _Piece:
    return _join(map(_read, _children(element)))


def _first(element: _Element) -> _Piece:
    return _read(_children(element)[0]) if _children(element) else _NOTHING


def _empty(_: _Element) -> _Piece:
    return _NOTHING


def _token(element: _Element) -> _Piece:
    text = "".join(map(str, element.itertext())).translate(_INVISIBLE).replace("\xa0", " ")
    text = _OPERATORS.get(text.strip(), text if _name(element) in ("mtext", "t") else text.strip())
    is_word = len(text) > 1 and text.isalpha()
    return _Piece(text, is_word, is_word)


def _run(element: _Element) -> _Piece:
    return _join(_token(child) for child in _children(element) if _name(child) == "t")


def _bracketed(piece: _Piece) -> str:
    """A part of an equation in brackets, unless it is one number, one name, or in brackets already."""
    text = piece.text.strip()
    return text if not text or _WHOLE.fullmatch(text) or _is_call(text) else f"({text})"


def _is_call(text: str) -> bool:
    """Whether a bracket opens at the start or behind a name, and is closed at the end."""
    opened = _CALL.match(text)
    if not opened or not text.endswith(")"):
        return False
    depth = 0
    for i, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth and i >= opened.end():
            return i == len(text) - 1
    return False


def _fraction(over: _Piece, under: _Piece) -> _Piece:
    if not over.text or not under.text:
        raise _UnreadableError
    return _Piece(f"{_bracketed(over)}/{_bracketed(under)}", True, True)


def _root(inside: _Piece, degree: _Piece = _NOTHING) -> _Piece:
    return _Piece(f"root({degree.text},{inside.text})" if degree.text else f"sqrt({inside.text})", True, True)


def _scripts(base: _Piece, below: _Piece = _NOTHING, above: _Piece = _NOTHING) -> _Piece:
    text = _bracketed(base)
    text += f"_{_bracketed(below)}" if below.text else ""
    if above.text:
        text += _RAISED_SIGNS.get(above.text) or f"^{_bracketed(above)}"
    return _Piece(text, opens=base.opens, closes=True)


def _limits(base: _Piece, below: _Piece = _NOTHING, above: _Piece = _NOTHING) -> _Piece:
    """A base with an accent, or an operator or a name such as "lim" with its limits."""
    if above.text in _ACCENTS and not below.text:
        return _Piece(f"{_ACCENTS[above.text]}({base.text})", True, True)
    if (base.text.isalpha() and len(base.text) > 1) or (len(base.text) == 1 and not base.text.isalnum()):
        return _scripts(base, below, above)
    raise _UnreadableError


def _prescripts(base: _Piece, below: _Piece, above: _Piece) -> _Piece:
    return _Piece(f"{_scripts(_NOTHING, below, above).text} {base.text}", True, True)


def _of_children(build: Callable[..., _Piece], *places: int) -> Callable[[_Element], _Piece]:
    """Reads an element of MathML, whose children stand at these places of what ``build`` is given."""

    def read(element: _Element) -> _Piece:
        children = _children(element)
        if len(children) != len(places):
            raise _UnreadableError
        parts = {place: _read(child) for place, child in zip(places, children, strict=True)}
        return build(*(parts.get(place, _NOTHING) for place in range(max(places) + 1)))

    return read


def _of_parts(build: Callable[..., _Piece], *names: str) -> Callable[[_Element], _Piece]:
    """Reads an element of OMML, whose children have names; an empty name stands for what it does not have."""
    return lambda element: build(*(_part(element, name) for name in names))


def _stacked(read: Callable[[_Element], _Piece]) -> Callable[[_Element], _Piece]:
    """Reads a fraction, if a line is drawn between its parts."""

    def checked(element: _Element) -> _Piece:
        thickness = element.get("linethickness", "")
        if re.match(r"0+(?:\.0*)?(?:\D|$)", thickness) or _property(element, "type", "") == "noBar":
            raise _UnreadableError
        return read(element)

    return checked


def _multiscripts(element: _Element) -> _Piece:
    base, *scripts = _children(element)
    names = [_name(script) for script in scripts]
    at = names.index("mprescripts") if "mprescripts" in names else len(names)
    behind, before = scripts[:at], scripts[at + 1 :]
    if len(behind) not in (0, 2) or len(before) not in (0, 2):
        raise _UnreadableError
    found = _scripts(_read(base), *map(_read, behind)) if behind else _read(base)
    return _prescripts(found, *map(_read, before)) if before else found


def _fenced(element: _Element) -> _Piece:
    separators = element.get("separators", ",").strip()[:1]
    inside = separators.join(_read(child).text for child in _children(element))
    return _Piece(f"{element.get('open', '(')}{inside}{element.get('close', ')')}")


def _delimited(element: _Element) -> _Piece:
    separator = _property(element, "sepChr", "|")
    inside = separator.join(_read(child).text for child in _children(element))
    return _Piece(f"{_property(element, 'begChr', '(')}{inside}{_property(element, 'endChr', ')')}")


def _nary(element: _Element) -> _Piece:
    sign = _property(element, "chr", "∫")
    operator = _scripts(_Piece(_OPERATORS.get(sign, sign), opens=True), _part(element, "sub"), _part(element, "sup"))
    return _join([operator, _part(element, "e")])


def _call(name: _Piece, argument: _Piece) -> _Piece:
    return _join([_Piece(name.text, True, True), argument])


def _accent(element: _Element) -> _Piece:
    return _limits(_part(element, "e"), above=_Piece(_property(element, "chr", "\u0302")))


def _bar(element: _Element) -> _Piece:
    if _property(element, "pos", "bot") != "top":
        raise _UnreadableError
    return _limits(_part(element, "e"), above=_Piece("¯"))


def _phantom(element: _Element) -> _Piece:
    return _NOTHING if _property(element, "show", "1") in ("0", "off", "false") else _row(element)


def _plain(element: _Element) -> _Piece:
    """The content of a box; a box that strikes it out cannot be put in a line."""
    marks = element.get("notation", "") + "".join(
        _name(mark) for part in element.iterchildren("*") for mark in part.iterchildren("*")
    )
    if "strike" in marks.lower():
        raise _UnreadableError
    return _row(element)


def _table(element: _Element) -> _Piece:
    """Equations below one another, aligned at their signs of relation; a matrix cannot be put in a line."""
    rows = [[_read(cell).text for cell in _children(row)] for row in _children(element)]
    filled = [list(filter(None, row)) for row in rows]
    if any(not _RELATION.match(cell) for row in filled for cell in row[1:]):
        raise _UnreadableError
    return _Piece("; ".join("".join(row) for row in filled if row))


def _lines(element: _Element) -> _Piece:
    return _Piece("; ".join(_read(child).text.replace("&", "") for child in _children(element)))


_READERS: dict[str, Callable[[_Element], _Piece]] = {
    **dict.fromkeys(("math", "mrow", "mstyle", "mpadded", "merror", "mtd"), _row),
    **dict.fromkeys(("mi", "mn", "mo", "mtext", "ms", "t"), _token),
    **dict.fromkeys(("mphantom", "none", "malignmark", "maligngroup", "del", "moveFrom", "proofErr"), _empty),
    **dict.fromkeys(("bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd"), _empty),
    **dict.fromkeys(("semantics", "maction"), _first),
    **dict.fromkeys(("menclose", "borderBox", "box"), _plain),
    "mspace": lambda _: _Piece(" "),
    "mfrac": _stacked(_of_children(_fraction, 0, 1)),
    "msqrt": lambda element: _root(_row(element)),
    "mroot": _of_children(_root, 0, 1),
    "msub": _of_children(_scripts, 0, 1),
    "msup": _of_children(_scripts, 0, 2),
    "msubsup": _of_children(_scripts, 0, 1, 2),
    "munder": _of_children(_limits, 0, 1),
    "mover": _of_children(_limits, 0, 2),
    "munderover": _of_children(_limits, 0, 1, 2),
    "mmultiscripts": _multiscripts,
    "mfenced": _fenced,
    "mtable": _table,
    **dict.fromkeys(("oMath", "e", "num", "den", "sub", "sup", "deg", "lim", "fName", "ins"), _row),
    "r": _run,
    "f": _stacked(_of_parts(_fraction, "num", "den")),
    "rad": _of_parts(_root, "e", "deg"),
    "sSub": _of_parts(_scripts, "e", "sub"),
    "sSup": _of_parts(_scripts, "e", "", "sup"),
    "sSubSup": _of_parts(_scripts, "e", "sub", "sup"),
    "sPre": _of_parts(_prescripts, "e", "sub", "sup"),
    "limLow": _of_parts(_limits, "e", "lim"),
    "limUpp": _of_parts(_limits, "e", "", "lim"),
    "func": _of_parts(_call, "fName", "e"),
    "nary": _nary,
    "d": _delimited,
    "acc": _accent,
    "bar": _bar,
    "phant": _phantom,
    "m": _table,
    **dict.fromkeys(("eqArr", "oMathPara"), _lines),
}
