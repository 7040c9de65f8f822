"""HTML to Markdown, with Beautiful Soup and markdownify: the content of the page, without what surrounds it.

What a page hides by ``style`` attributes or its own style sheets is left out. Not considered are style sheets in other
files (except those of the same book), rules under a condition (``@media``), and text that its colour, size or place
makes invisible.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown_it.common.html_blocks import block_names

from discorag.ingest.convert.converted import Converted, literal
from discorag.ingest.convert.encoding import ENCODING, guess_encoding
from discorag.ingest.convert.marks import STRUCK, write_marks
from discorag.ingest.convert.notes import write_notes, write_references
from discorag.ingest.convert.numbers import LABEL, number_items, take_labels
from discorag.ingest.convert.tables import UNCLEAR, Cell, Table, table_markdown
from discorag.ingest.convert.unread import in_page
from discorag.schema.errors import DecodingError

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from bs4.element import PageElement
    from markdownify import MarkdownConverter
    from soupsieve import SoupSieve

_HIDING = {"display": {"none"}, "visibility": {"hidden", "collapse"}}
_STRIKING = {"text-decoration": {"line-through"}, "text-decoration-line": {"line-through"}}
_EFFECTS = _HIDING | _STRIKING
_SCREEN = ":is(:not([media]), [media=all i], [media=screen i])"


class _Rule(NamedTuple):
    """A declaration that hides or strikes elements, or does not; the heaviest one applies.

    One of a ``style`` attribute has no selector.
    """

    weight: tuple[bool, bool, tuple[int, int, int], int]
    name: str
    applies: bool
    selector: SoupSieve | None = None


def hidden(soup: BeautifulSoup) -> list[Tag]:
    """The elements that a reader of the page does not see, also those inside others.

    The page as a whole is never among them: a page that hides its body has a script that shows it. An equation stays
    that is hidden next to its picture.
    """
    return [tag for tag in _affected(soup, _HIDING) if not (tag.find("math") and _sibling_name(tag) == "img")]


def struck(soup: BeautifulSoup) -> list[Tag]:
    """The elements that a page strikes out, none inside another."""
    found = [*soup(["s", "strike", "del"]), *_affected(soup, _STRIKING)]
    known = set(map(id, found))
    return [tag for tag in {id(tag): tag for tag in found}.values() if not any(id(up) in known for up in tag.parents)]


def _sibling_name(tag: Tag) -> str:
    then = tag.find_next_sibling()
    return then.name if then is not None else ""


def _affected(soup: BeautifulSoup, names: Iterable[str]) -> list[Tag]:
    """The elements on which one of these properties has its effect."""
    rules = _rules("\n".join(s.get_text() for s in soup.select(f"style{_SCREEN}")) if soup.find("style") else "")
    tags = soup(True) if rules else soup(style=True)
    return [tag for tag in tags if tag.name not in ("html", "body") and _is_affected(tag, rules, names)]


def _is_affected(tag: Tag, rules: Mapping[str, Sequence[_Rule]], names: Iterable[str]) -> bool:
    own = _style_rules(tag) if tag.has_attr("style") else []
    near = [rule for key in _keys(tag) for rule in rules.get(key, ())] if rules else []
    if not any(rule.applies and rule.name in names for rule in (*own, *near)):
        return False
    holding = [*own, *(rule for rule in near if rule.selector and rule.selector.match(tag))]
    of_name = ([rule for rule in holding if rule.name == name] for name in names)
    return any(max(declared, key=lambda rule: rule.weight).applies for declared in of_name if declared)


def _keys(tag: Tag) -> list[str]:
    """The last parts that a selector of this element may have: its id, its classes, its name, or ``*``."""
    return [f"#{tag.get('id')}", *(f".{name}" for name in tag.get_attribute_list("class")), tag.name.lower(), "*"]


def _style_rules(tag: Tag) -> list[_Rule]:
    from tinycss2 import parse_blocks_contents

    declared = _effects(parse_blocks_contents(str(tag.get("style", ""))))
    return [_Rule((important, True, (0, 0, 0), 0), name, applies) for name, applies, important in declared]


@lru_cache(maxsize=8)  # the chapters of a book share their sheets
def _rules(sheets: str) -> Mapping[str, Sequence[_Rule]]:
    """The rules of style sheets, by one of the `_keys` that the elements they are for have."""
    from cssselect import SelectorError, parse
    from soupsieve import SelectorSyntaxError, compile
    from tinycss2 import parse_blocks_contents, parse_stylesheet, serialize
    from tinycss2.ast import QualifiedRule

    found: dict[str, list[_Rule]] = {}
    for order, rule in enumerate(parse_stylesheet(sheets, skip_comments=True, skip_whitespace=True)):
        if not isinstance(rule, QualifiedRule) or not (declared := list(_effects(parse_blocks_contents(rule.content)))):
            continue
        with suppress(SelectorError, SelectorSyntaxError):  # what these libraries do not know has no effect
            for selector in parse(serialize(rule.prelude)):
                if not selector.pseudo_element:
                    sieve, weight = compile(selector.canonical()), selector.specificity()
                    found.setdefault(_key(sieve), []).extend(
                        _Rule((imp, False, weight, order), name, holds, sieve) for name, holds, imp in declared
                    )
    return found


def _key(sieve: SoupSieve) -> str:
    """The key of a selector among the `_keys` of the elements that it is for."""
    from soupsieve.css_types import Selector

    last = sieve.selectors[0]
    if not isinstance(last, Selector):  # it is for none
        return ""
    named = last.tag.name.lower() if last.tag else "*"
    return f"#{last.ids[0]}" if last.ids else f".{last.classes[0]}" if last.classes else named


def _effects(declared: Sequence[object]) -> Iterator[tuple[str, bool, bool]]:
    """The declarations of these properties: name, whether it hides or strikes, and whether it is important."""
    from tinycss2.ast import Declaration

    for one in declared:
        if isinstance(one, Declaration) and one.lower_name in _EFFECTS:
            words = [token.lower_value for token in one.value if token.type == "ident"]
            yield one.lower_name, not _EFFECTS[one.lower_name].isdisjoint(words), one.important


_HTML = (".html", ".htm")
LIBRARIES = ("markdownify", "beautifulsoup4", "lxml", "tinycss2", "cssselect")
_DROPPED = (
    "head, script, style, template, noscript, nav, svg, iframe, object, button, select, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=search]"
)
_UNWRAPPED = ["a", "b", "strong", "i", "em", "u", "ins", "mark", "small", "font", "img", "code", "kbd", "samp"]
_BLOCKS = frozenset({*block_names, "br", "pre"})
_XML_DECLARATION = re.compile(r"^(\s*<\?xml(?:[^<>]*\?>)?)+")  # also one that is not closed
_SELF_CLOSED = re.compile(r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)(\w++)([^<>]*)/>")
_NUMBERED = re.compile(r"\d{1,9}[.)]")
_BACKTICKS = re.compile(r"`{3,}")
# The encodings that web pages name, and those that they mean (https://encoding.spec.whatwg.org/#names-and-labels).
_MEANT = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_TABLE_PARTS = ["caption", "thead", "tbody", "tfoot", "tr", "td", "th"]
_ORDER = {"thead": 0, "tfoot": 2}
_SPANS = ("rowspan", "colspan")
_MAX_COLSPAN = 50
_GRID, _SHORT = 3, 40  # rows and columns, at least, and characters of a cell, at most, of data that hold tables
_TEXT = "data-text"  # attribute in which the text of a cell waits for its table
_UNCLEAR = "data-unclear"  # attribute of a table whose first row may be its header


def from_html(data: bytes, path: Path, *, read_linked: Callable[[str], str] = lambda _: "") -> Converted:
    """The text of a page as Markdown, in the encoding that a byte order mark or the page itself names, else in UTF-8,
    else in the likeliest one, which the metadata say (`ENCODING`).

    Scripts, styles, forms, navigation, and what the page itself hides or strikes out are left out. Links, emphasis and
    code in a line keep their text only, so that no character of a line is markup; tables become pipe tables,
    preformatted text becomes fenced blocks; equations are written in a line (``1/2``), and notes as Markdown has them.
    ``read_linked`` reads the style sheets that a page links to.

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
    unread = in_page(soup)
    made = _converted(soup, path, name)
    return replace(made, metadata=assumed, unread=unread + made.unread)


def from_markup(html: str, path: Path) -> Converted:
    """The same for HTML that another converter made; the class ``title`` marks its title."""
    soup = _soup(html)
    take_labels(soup)
    title = soup.select_one("h1.title")
    return _converted(soup, path, " ".join(title.get_text().split()) if title else "")


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
    from bs4 import BeautifulSoup, Tag

    html = _XML_DECLARATION.sub("", html)
    whole = html if "<" in html else f"<p>{html}</p>"
    return BeautifulSoup(whole, "lxml", element_classes={Tag: _element_class()})


@cache
def _element_class() -> type[Tag]:
    from bs4 import Tag

    class Element(Tag):
        """An element whose children can all be changed, one after another, in linear time."""

        near = 0  # where the last child was found

        def index(self, element: PageElement) -> int:
            """The place of a child, looked for around the last one: Beautiful Soup begins at the first child."""
            contents = self.contents
            near = min(self.near, len(contents))
            for step in range(len(contents)):
                for i in (near + step, near - 1 - step):
                    if 0 <= i < len(contents) and contents[i] is element:
                        self.near = i
                        return i
            return super().index(element)

    return Element


def _converted(soup: BeautifulSoup, path: Path, title: str) -> Converted:
    gone = struck(soup)
    for tag in soup.select(_DROPPED):
        tag.decompose()
    unread = Counter({STRUCK: sum(_remove(tag) for tag in gone if not tag.decomposed)})
    try:
        number_items(soup)
        notes = write_references(soup)
        unread += write_marks(soup)
        write_notes(notes)
        for table in soup("table"):
            _simplify(table)
        for heading in soup.select(":is(td, th) :is(h1, h2, h3, h4, h5, h6)"):  # a paragraph keeps off its neighbours
            heading.name = "p"
        for terms in soup("dl"):
            _itemise(terms)
        _escape(soup)
        text = _converter().convert_soup(soup)
        unread[UNCLEAR] = sum(int(str(table.get(_UNCLEAR, "0"))) for table in soup("table"))
    except RecursionError as error:
        raise DecodingError(f"{path} is nested too deeply.", hint="Save it in a simpler form.") from error
    return Converted(text.replace("\xa0", " ").strip(), title=title, unread=+unread)


def _remove(tag: Tag) -> bool:
    """Remove an element; true if it had words."""
    says = bool(tag.get_text().strip())
    tag.decompose()
    return says


def _simplify(table: Tag) -> None:
    """Captions above their tables; a table that only lays out the page is dissolved."""
    own = [part for part in table(_TABLE_PARTS) if _around(part, "table") is table]
    is_data = table.find("pre") is None and any(part.name in ("caption", "thead", "th") for part in own)
    is_data = is_data or (table.find("pre") is None and _is_grid([part for part in own if part.name == "tr"]))
    if table.get("role") == "presentation" or (table.find(["table", "pre"]) and not is_data):
        for part in (table, *own):
            part.name = "div"
    for caption in (part for part in own if part.name == "caption"):
        caption.name = "p"
        table.insert_before(caption.extract())


def _is_grid(rows: Sequence[Tag]) -> bool:
    """Whether rows of cells are as regular as only data are: short names above, and tables in one column at most."""
    cells = [row(["td"], recursive=False) for row in rows]
    if len(rows) < _GRID or len(cells[0]) < _GRID or {len(row) for row in cells} != {len(cells[0])}:
        return False
    holding = {i for row in cells for i, cell in enumerate(row) if cell.find("table")}
    texts = [[cell.get_text().strip() for i, cell in enumerate(row) if i not in holding] for row in cells]
    is_named = all(0 < len(cell.get_text().strip()) <= _SHORT and not cell.find("table") for cell in cells[0])
    return is_named and len(holding) == 1 and all(len(text) <= _SHORT for row in texts for text in row)


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
        """Items, cells and code as we write them."""

        def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            label = str(el.get(LABEL, ""))
            bullet = f"{label} " if _NUMBERED.fullmatch(label) else "- "
            text = f"{label if bullet == '- ' else ''} {text.strip()}".strip()
            return f"{bullet}{text.replace(chr(10), chr(10) + ' ' * len(bullet))}\n" if text else "\n"

        def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            el[_TEXT] = text
            return f"{text} "

        convert_th = convert_td

        def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            return text

        def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            if "table" in parent_tags:
                return ""
            unread = Counter[str]()
            made = table_markdown(_table(el), unread)
            el[_UNCLEAR] = str(unread[UNCLEAR])
            return f"\n\n{made}\n\n"

        def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            if not text.strip():
                return ""
            fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
            return f"\n\n{fence}{_language(el)}\n{text.strip(chr(10)).rstrip()}\n{fence}\n\n"

    escapes = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    return Converter(heading_style=ATX, bullets="-", strip=_UNWRAPPED, **escapes)
