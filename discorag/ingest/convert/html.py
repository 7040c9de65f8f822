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
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown_it.common.html_blocks import block_names

from discorag.ingest.convert.converted import Converted, cell, literal
from discorag.ingest.convert.encoding import ENCODING, guess_encoding
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
_MAX_COLSPAN = 50


def from_html(data: bytes, path: Path, *, read_linked: Callable[[str], str] = lambda _: "") -> Converted:
    """The text of a page as Markdown, in the encoding that a byte order mark or the page itself names, else in UTF-8,
    else in the likeliest one, which the metadata say (`ENCODING`).

    Scripts, styles, forms, navigation, and what the page itself hides are left out. Links, emphasis and code in a line
    keep their text only, so that no character of a line is markup; tables become pipe tables, preformatted text becomes
    fenced blocks. ``read_linked`` reads the style sheets that a page links to.

    Raises:
        DecodingError: It is in another encoding than it says, or nested too deeply.
    """
    text, assumed = _decode(data, path)
    soup = _soup(text if path.suffix.lower() in _HTML else _SELF_CLOSED.sub(r"<\1\2></\1>", text))
    for link in soup.select(f"link[rel~=stylesheet][href]{_SCREEN}"):
        link.name, link.string = "style", read_linked(str(link["href"]))
    for tag in hidden(soup):
        tag.decompose()
    title = soup.select_one("head > title, h1")
    name = " ".join(title.get_text(" ").split()) if title else ""
    return Converted(text=_markdown(soup, path), title=name, metadata=assumed)


def from_markup(html: str, path: Path) -> Converted:
    """The same for HTML that another converter made; the class ``title`` marks its title."""
    soup = _soup(html)
    title = soup.select_one("h1.title")
    return Converted(text=_markdown(soup, path), title=" ".join(title.get_text().split()) if title else "")


def _decode(data: bytes, path: Path) -> tuple[str, dict[str, str]]:
    from bs4.dammit import EncodingDetector

    body, mark = EncodingDetector.strip_byte_order_mark(data)
    declared = EncodingDetector.find_declared_encoding(body, is_html=True, search_entire_document=False)
    names = [mark] if mark else [_MEANT.get((declared or "utf-8").lower(), declared), "utf-8"]
    guessed = (guess_encoding(body)[0] for _ in range(not mark and b"\x00" not in body))  # only if it is needed
    for name in filter(None, chain(names, guessed)):
        try:
            text = body.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
        if "\x00" not in text:
            assumed = {} if name in names else {ENCODING: name}
            return text.replace("\r\n", "\n").replace("\r", "\n"), assumed
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
        for terms in soup("dl"):
            _itemise(terms)
        for part in soup(["td", "th"], colspan=True):  # outside of tables too
            span = str(part["colspan"])
            part["colspan"] = str(min(int(span), _MAX_COLSPAN)) if span.isdecimal() else "1"
        _escape(soup)
        text = _converter().convert_soup(soup)
    except RecursionError as error:
        raise DecodingError(f"{path} is nested too deeply.", hint="Save it in a simpler form.") from error
    return text.replace("\xa0", " ").strip("\n")


def _simplify(table: Tag) -> None:
    """Rows alone, the first of them the header; a table that only lays out the page is dissolved."""
    if table.find(["table", "pre"]) or table.get("role") == "presentation":
        for part in [table, *(p for p in table(["caption", "tr", "td", "th"]) if p.find_parent("table") is table)]:
            part.name = "div"
    for part in table("colgroup"):
        part.decompose()
    for caption in table("caption"):
        caption.name = "p"
        table.insert_before(caption.extract())
    for part in table(["thead", "tbody", "tfoot"]):
        part.unwrap()


def _itemise(terms: Tag) -> None:
    """A list of terms as Markdown can write it: each term is an item, and what it means follows behind a colon."""
    terms.name = "ul"
    for group in terms("div", recursive=False):
        group.unwrap()
    item, joins = None, False
    for part in terms(["dt", "dd"], recursive=False):
        if part.name == "dt" or item is None:
            joins, part.name, item = part.name == "dt", "li", part
            continue
        item.append(part.extract())
        part.name = "div"
        if joins and (term := item.get_text().removesuffix(part.get_text()).strip()):
            part.insert_before(" " if term.endswith(":") else ": ")
            first = next((one for one in part.contents if one.get_text().strip()), None)
            for paragraph in part("p", recursive=False)[:1]:
                if paragraph is first:
                    paragraph.unwrap()
            part.unwrap()
        joins = False


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
            return f" {cell(text)}{' |' * int(str(el.get('colspan', '1')))}"

        convert_th = convert_td

        def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            if not text.strip():
                return ""
            fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
            return f"\n\n{fence}{_language(el)}\n{text.strip(chr(10)).rstrip()}\n{fence}\n\n"

    escapes = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    return Converter(heading_style=ATX, bullets="-", strip=_UNWRAPPED, table_infer_header=True, **escapes)
