"""HTML to Markdown, with Beautiful Soup and markdownify: the content of the page, without what surrounds it.

What a page hides by ``style`` attributes or its own style sheets is left out. Not considered are style sheets in other
files (except those of the same book), rules under a condition (``@media``), and text that its colour, size or place
makes invisible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown_it.common.html_blocks import block_names

from discorag.ingest.convert.converted import Converted, literal
from discorag.ingest.convert.tables import Cell, Table, table_markdown
from discorag.schema.errors import DecodingError

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from bs4.element import PageElement
    from markdownify import MarkdownConverter
    from soupsieve import SoupSieve

_HIDING = {"display": {"none"}, "visibility": {"hidden", "collapse"}}
_SCREEN = ":is(:not([media]), [media=all i], [media=screen i])"


class _Rule(NamedTuple):
    """A declaration that shows or hides elements; the heaviest one applies. In ``style`` it has no selector."""

    weight: tuple[bool, bool, tuple[int, int, int], int]
    name: str
    hides: bool
    selector: SoupSieve | None = None


def hidden(soup: BeautifulSoup) -> list[Tag]:
    """The elements that a reader of the page does not see, also those inside others.

    The page as a whole is never among them: a page that hides its body has a script that shows it.
    """
    rules = _rules("\n".join(sheet.get_text() for sheet in soup.select(f"style{_SCREEN}")))
    hiding = [rule.selector for rule in rules if rule.hides and rule.selector]
    found = {id(tag): tag for selector in hiding for tag in selector.select(soup)}
    found |= {id(tag): tag for tag in soup.select("[style]") if any(rule.hides for rule in _style_rules(tag))}
    return [tag for tag in found.values() if tag.name not in ("html", "body") and _is_hidden(tag, rules)]


def _is_hidden(tag: Tag, rules: Sequence[_Rule]) -> bool:
    holding = [*_style_rules(tag), *(rule for rule in rules if rule.selector and rule.selector.match(tag))]
    of_name = ([rule for rule in holding if rule.name == name] for name in _HIDING)
    return any(max(declared, key=lambda rule: rule.weight).hides for declared in of_name if declared)


def _style_rules(tag: Tag) -> list[_Rule]:
    from tinycss2 import parse_blocks_contents

    declared = _hiding(parse_blocks_contents(str(tag.get("style", ""))))
    return [_Rule((important, True, (0, 0, 0), 0), name, hides) for name, hides, important in declared]


@lru_cache(maxsize=8)  # the chapters of a book share their sheets
def _rules(sheets: str) -> tuple[_Rule, ...]:
    from cssselect import SelectorError, parse
    from soupsieve import SelectorSyntaxError, compile
    from tinycss2 import parse_blocks_contents, parse_stylesheet, serialize
    from tinycss2.ast import QualifiedRule

    found: list[_Rule] = []
    for order, rule in enumerate(parse_stylesheet(sheets, skip_comments=True, skip_whitespace=True)):
        if not isinstance(rule, QualifiedRule) or not (declared := list(_hiding(parse_blocks_contents(rule.content)))):
            continue
        with suppress(SelectorError, SelectorSyntaxError):  # what these libraries do not know hides nothing
            for selector in parse(serialize(rule.prelude)):
                if not selector.pseudo_element:
                    sieve, weight = compile(selector.canonical()), selector.specificity()
                    found += (_Rule((imp, False, weight, order), name, hides, sieve) for name, hides, imp in declared)
    return tuple(found)


def _hiding(declared: Sequence[object]) -> Iterator[tuple[str, bool, bool]]:
    """The declarations that show or hide: name, whether it hides, and whether it is important."""
    from tinycss2.ast import Declaration

    for one in declared:
        if isinstance(one, Declaration) and one.lower_name in _HIDING:
            words = [token.lower_value for token in one.value if token.type == "ident"]
            yield one.lower_name, len(words) == 1 and words[0] in _HIDING[one.lower_name], one.important


_HTML = (".html", ".htm")
LIBRARIES = ("markdownify", "beautifulsoup4", "lxml", "tinycss2", "cssselect")
_DROPPED = (
    "head, script, style, template, noscript, nav, svg, math annotation, iframe, object, button, select, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=search], "
    "a[href^='#footnote-ref'], a[href^='#endnote-ref']"  # mammoth's way back from a note
)
_UNWRAPPED = [
    "a", "b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "font", "img", "sub", "code", "kbd", "samp"
]  # fmt: skip
_BLOCKS = frozenset({*block_names, "br", "pre"})
_XML_DECLARATION = re.compile(r"^(\s*<\?xml(?:[^<>]*\?>)?)+")  # also one that is not closed
_SELF_CLOSED = re.compile(r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)(\w++)([^<>]*)/>")
_EXPONENT = re.compile(r"[+\u2212-]?\d+")
_BACKTICKS = re.compile(r"`{3,}")
# What web pages say and what they mean (https://encoding.spec.whatwg.org/#names-and-labels).
_MEANT = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_TABLE_PARTS = ["caption", "thead", "tbody", "tfoot", "tr", "td", "th"]
_ORDER = {"thead": 0, "tfoot": 2}
_SPANS = ("rowspan", "colspan")
_MAX_COLSPAN = 50
_TEXT = "data-text"  # attribute in which the text of a cell waits for its table


def from_html(data: bytes, path: Path, *, read_linked: Callable[[str], str] = lambda _: "") -> Converted:
    """The text of a page as Markdown, in the encoding that a byte order mark or the page itself names, else UTF-8.

    Scripts, styles, forms, navigation, and what the page itself hides are left out. Links, emphasis and code in a line
    keep their text only, so that no character of a line is markup; tables become pipe tables, preformatted text becomes
    fenced blocks. ``read_linked`` reads the style sheets that a page links to.

    Raises:
        DecodingError: It is in another encoding than it says, or nested too deeply.
    """
    text = _decode(data, path)
    soup = _soup(text if path.suffix.lower() in _HTML else _SELF_CLOSED.sub(r"<\1\2></\1>", text))
    for link in soup.select(f"link[rel~=stylesheet][href]{_SCREEN}"):
        link.name, link.string = "style", read_linked(str(link["href"]))
    for tag in hidden(soup):
        tag.decompose()
    title = soup.select_one("head > title, h1")
    name = " ".join(title.get_text(" ").split()) if title else ""
    return Converted(text=_markdown(soup, path), title=name)


def from_markup(html: str, path: Path) -> Converted:
    """The same for HTML that another converter made; the class ``title`` marks its title."""
    soup = _soup(html)
    title = soup.select_one("h1.title")
    return Converted(text=_markdown(soup, path), title=" ".join(title.get_text().split()) if title else "")


def _decode(data: bytes, path: Path) -> str:
    from bs4.dammit import EncodingDetector

    body, mark = EncodingDetector.strip_byte_order_mark(data)
    declared = EncodingDetector.find_declared_encoding(body, is_html=True, search_entire_document=False)
    names = [mark] if mark else [_MEANT.get((declared or "utf-8").lower(), declared), "utf-8"]
    for name in filter(None, names):
        try:
            text = body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
        if "\x00" not in text:
            return text.replace("\r\n", "\n").replace("\r", "\n")
    raise DecodingError(
        f"{path} is not text in {' or '.join(dict.fromkeys(filter(None, names)))}.",
        hint="If it is HTML, name its encoding in <meta charset>, or save it as UTF-8.",
    )


def _soup(html: str) -> BeautifulSoup:
    from bs4 import BeautifulSoup

    html = _XML_DECLARATION.sub("", html)
    return BeautifulSoup(html if "<" in html else f"<p>{html}</p>", "lxml")


def _markdown(soup: BeautifulSoup, path: Path) -> str:
    for tag in soup.select(_DROPPED):
        tag.decompose()
    try:
        for table in soup("table"):
            _simplify(table)
        _escape(soup)
        text = _converter().convert_soup(soup)
    except RecursionError as error:
        raise DecodingError(f"{path} is nested too deeply.", hint="Save it in a simpler form.") from error
    return text.replace("\xa0", " ").strip("\n")


def _simplify(table: Tag) -> None:
    """Captions above their tables; a table that only lays out the page is dissolved."""
    own = [part for part in table(_TABLE_PARTS) if _around(part, "table") is table]
    is_data = table.find("pre") is None and any(part.name in ("caption", "thead", "th") for part in own)
    if table.get("role") == "presentation" or (table.find(["table", "pre"]) and not is_data):
        for part in (table, *own):
            part.name = "div"
    for caption in (part for part in own if part.name == "caption"):
        caption.name = "p"
        table.insert_before(caption.extract())


def _table(element: Tag) -> Table:
    """A table whose cells have been converted already."""
    groups: dict[int, tuple[str, list[list[Tag]]]] = {}
    for row in element("tr"):
        if _around(row, "table") is element:
            group = _around(row, "thead", "tbody", "tfoot", "table")
            cells = [part for part in row(["td", "th"]) if _around(part, "tr") is row]
            groups.setdefault(id(group), (group.name if group else "", []))[1].append(cells)
    ordered = sorted(groups.values(), key=lambda group: _ORDER.get(group[0], 1))
    return Table(
        [
            [_cell(part, len(rows) - i, is_header=part.name == "th" or name == "thead") for part in row]
            for name, rows in ordered
            for i, row in enumerate(rows)
        ]
    )


def _around(part: Tag, *names: str) -> Tag | None:
    """The innermost element around another that has one of these names."""
    return next((parent for parent in part.parents if parent.name in names), None)


def _cell(part: Tag, rows_left: int, *, is_header: bool) -> Cell:
    """A cell; one that spans all rows to the end of its group may say so by 0."""
    rows, columns = (int(span[:5]) if (span := str(part.get(name, "1"))).isdecimal() else 1 for name in _SPANS)
    has_tags = part.find(True) is not None
    bold = "".join(found.get_text() for found in part(["b", "strong"])) if has_tags else ""
    return Cell(
        str(part.get(_TEXT, "")),
        rows=min(rows or rows_left, rows_left),
        columns=max(1, min(columns, _MAX_COLSPAN)),
        is_header=is_header,
        is_bold=bool(bold) and bold.split() == part.get_text().split(),
        tables=tuple(_table(inner) for inner in part("table") if _around(inner, "td", "th") is part)
        if has_tags
        else (),
    )


def _language(pre: Tag) -> str:
    """The language that a code block's class names, as highlighters write it: ``language-python``."""
    for tag in (pre, *pre("code", limit=1)):
        for name in tag.get_attribute_list("class"):
            if str(name).startswith("language-"):
                return str(name).removeprefix("language-")
    return ""


def _escape(soup: BeautifulSoup) -> None:
    """Put a backslash before what would be block markup of Markdown at the start of a line, outside of code."""
    for text in soup(string=True):
        if not text.find_parent("pre"):
            first, newline, others = text.partition("\n")
            shown = f"{literal(first) if _opens_line(text) else first}{newline}{literal(others)}"
            if shown != text:
                text.replace_with(shown)


def _opens_line(node: PageElement) -> bool:
    """Whether nothing stands before it in its line."""
    before = node.previous_sibling
    while before is not None and not before.get_text().strip() and not _ends_line(before):
        before = before.previous_sibling
    if before is not None:
        return _ends_line(before)
    return node.parent is None or _ends_line(node.parent) or _opens_line(node.parent)


def _ends_line(node: PageElement) -> bool:
    return getattr(node, "name", "") in _BLOCKS


@cache
def _converter() -> MarkdownConverter:
    from markdownify import ATX, MarkdownConverter

    class Converter(MarkdownConverter):
        """Exponents, cells and code as we write them."""

        def convert_sup(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            return f"^{text}" if _EXPONENT.fullmatch(text.strip()) else text

        def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            el[_TEXT] = text
            return f"{text} "

        convert_th = convert_td

        def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            return text

        def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            return "" if "table" in parent_tags else f"\n\n{table_markdown(_table(el))}\n\n"

        def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            if not text.strip():
                return ""
            fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
            return f"\n\n{fence}{_language(el)}\n{text.strip(chr(10)).rstrip()}\n{fence}\n\n"

    escapes = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    return Converter(heading_style=ATX, bullets="-", strip=_UNWRAPPED, **escapes)
