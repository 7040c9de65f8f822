"""DOCX to Markdown: mammoth makes HTML of it, which is then converted like any HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discorag.ingest.convert import html
from discorag.ingest.convert.archive import pack, tree_of
from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.equations import EQUATION
from discorag.ingest.convert.marks import HIDDEN, STRUCK
from discorag.ingest.convert.numbers import Numbering, is_on, value_of
from discorag.ingest.convert.office import put_content, remove, run_of, text_of, write_equation

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

LIBRARIES = ("mammoth", *html.LIBRARIES)
_STYLES = """
p[style-name='Title'] => h1.title:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
"""
_FILLS = ("shd", "highlight")
_TRANSPARENT = ("fldSimple", "bdo", "dir", "ruby", "rubyBase")  # fields, directions of writing, words with a reading


def from_docx(parts: Mapping[str, bytes], path: Path) -> Converted:
    """The text of a Word document with its headings, lists, tables and notes, and the numbers that Word shows.

    Left out are pictures, charts, comments, tracked deletions, and what is hidden or struck out by its own form or its
    style's. Raises whatever mammoth raises.
    """
    import mammoth
    from lxml import etree

    unread = Counter[str]()

    def no_image(_: object) -> list[object]:
        return []

    trees = {n: tree_of(part) for n, part in parts.items() if n.endswith(".xml") and not n.startswith("word/glossary/")}
    reader = _Reader.of({name.rpartition("/")[2]: tree for name, tree in trees.items()})
    for tree in trees.values():
        _complete(tree)
        unread += reader.write_marks(tree)
    written = {name: etree.tostring(tree) for name, tree in trees.items()}
    result = mammoth.convert_to_html(pack({**parts, **written}), style_map=_STYLES, convert_image=no_image)
    made = html.from_markup(result.value, path)
    return replace(made, unread=unread + made.unread)


def _complete(tree: _Element) -> None:
    """Write what mammoth passes over in the way that it reads; the reading of a word, which stands above it, goes."""
    for choice in list(tree.iter("{*}Choice")):  # mammoth reads the older form of what stands in two
        remove(choice)
    for shift in list(tree.iter("{*}gridBefore")):
        _fill(shift)
    for reading in list(tree.iter("{*}rubyPr", "{*}rt")):
        remove(reading)
    for around in list(tree.iter(*(f"{{*}}{name}" for name in _TRANSPARENT))):
        put_content(around, instead_of=around)


def _fill(shift: _Element) -> None:
    """Put an empty cell over the columns that a row leaves out at its left."""
    from lxml import etree

    word = str(shift.tag).removesuffix("gridBefore")
    properties = shift.getparent()
    row = properties.getparent() if properties is not None else None
    if properties is None or row is None:
        return
    empty = etree.Element(f"{word}tc")
    span = {f"{word}val": shift.get(f"{word}val", "1")}
    etree.SubElement(etree.SubElement(empty, f"{word}tcPr"), f"{word}gridSpan", span)
    etree.SubElement(empty, f"{word}p")
    row.insert(row.index(properties) + 1, empty)


@dataclass(frozen=True)
class _Reader:
    """Writes what mammoth passes over as text, and takes out what a reader of the document does not see.

    Args:
        numbering: The document's lists.
        styles: Each style, followed by those that it is based on.
    """

    numbering: Numbering
    styles: Mapping[str, Sequence[_Element]]

    @classmethod
    def of(cls, trees: Mapping[str, _Element]) -> _Reader:
        """The reader of a document with these parts, by the names of their files."""
        defined = trees["styles.xml"].iter("{*}style") if "styles.xml" in trees else ()
        styles = {value_of(style, "styleId", own=True): style for style in defined}
        numbering = Numbering.of(trees["numbering.xml"]) if "numbering.xml" in trees else Numbering()
        return cls(numbering, {name: list(_based(name, styles)) for name in styles})

    def write_marks(self, tree: _Element) -> Counter[str]:
        """Change a part into what mammoth shall see, and count what of it is not read."""
        unread = Counter[str]()
        is_document = tree.tag.endswith("}document")
        if is_document:
            self._write_labels(tree)
        on_white = tree.find("{*}background") is None
        runs = list(tree.iter("{*}r"))
        struck = [run for run in runs if self._has(run, "strike") or self._has(run, "dstrike")]
        white = [run for run in runs if on_white and _is_white(run)]
        unread[STRUCK], unread[HIDDEN] = _passages(struck), _passages(white)
        for run in [*struck, *white, *(run for run in runs if self._has(run, "vanish"))]:
            remove(run)
        for equation in [*tree.iter("{*}oMathPara"), *tree.iter("{*}oMath")]:
            parent = equation.getparent()
            if parent is not None and not parent.tag.endswith("}oMathPara"):  # which has written it
                unread[EQUATION] += write_equation(equation, equation)
        return +unread

    def _write_labels(self, document: _Element) -> None:
        for paragraph in document.iter("{*}p"):
            if paragraph.find("{*}pPr/{*}rPr/{*}del") is not None:
                continue
            label = self.numbering.label(paragraph, self.styles)
            if label and any(text.text for text in paragraph.iter("{*}t")):
                at = 0 if paragraph.find("{*}pPr") is None else 1
                paragraph.insert(at, run_of(label, paragraph))

    def _has(self, run: _Element, name: str) -> bool:
        """Whether a run has a property, by itself, or else by its own or its paragraph's style."""
        found = run.find(f"{{*}}rPr/{{*}}{name}")
        if found is not None:
            return is_on(found)
        paragraph = next(run.iterancestors("{*}p"), None)
        names = [value_of(run, "rPr/{*}rStyle"), "" if paragraph is None else value_of(paragraph, "pPr/{*}pStyle")]
        styles = (style for name in names for style in self.styles.get(name, ()))
        return is_on(next(filter(None.__ne__, (style.find(f"{{*}}rPr/{{*}}{name}") for style in styles)), None))


def _based(name: str, styles: Mapping[str, _Element]) -> Iterator[_Element]:
    """The style of this name and those that it is based on."""
    seen = set[str]()
    while name in styles and name not in seen:
        seen.add(name)
        yield styles[name]
        name = value_of(styles[name], "basedOn")


def _passages(runs: Sequence[_Element]) -> int:
    """How many stretches of text these runs are."""
    known = set(runs)
    return sum(run.getprevious() not in known and bool(text_of(run).strip()) for run in runs)


def _is_white(run: _Element) -> bool:
    """Whether a run is written in white, and nothing around it may be of another colour."""
    if value_of(run, "rPr/{*}color").upper() != "FFFFFF" or any(
        run.find(f"{{*}}rPr/{{*}}{n}") is not None for n in _FILLS
    ):
        return False
    around = [*run.iterancestors("{*}p", "{*}tbl", "{*}txbxContent")]
    return len(around) == 1 and around[0].find("{*}pPr/{*}shd") is None
