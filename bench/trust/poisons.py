"""Files below 50 kB that cause too much work: for the reader of their format, or for what comes after it."""

import io
import random
import zipfile
from collections.abc import Callable, Mapping

from bench.trust import pdfs

LARGEST = 50_000
"""Bytes of the largest."""
Make = Callable[[random.Random], bytes]
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATED = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def docx(body: str) -> bytes:
    """A DOCX with this body."""
    parts: dict[str, bytes] = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/></Types>'
        ).encode(),
        "_rels/.rels": (
            f'<Relationships xmlns="{_RELATED}"><Relationship Id="r" Type="{_DOCUMENT}" '
            'Target="word/document.xml"/></Relationships>'
        ).encode(),
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'.encode(),
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return made.getvalue()


def paragraph(text: str) -> str:
    """One of a DOCX."""
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def nested(opening: str, closing: str, depth: int, core: str = "The tide rises.") -> str:
    """Something in itself, so many times."""
    return opening * depth + core + closing * depth


def _html(body: str) -> bytes:
    return f"<html><body>{body}</body></html>".encode()


def _table_docx(depth: int) -> bytes:
    table = ("<w:tbl><w:tr><w:tc>", "<w:p/></w:tc></w:tr></w:tbl>")
    return docx(nested(*table, depth, core=paragraph("The tide rises.")))


def _words(rng: random.Random, count: int, between: str) -> bytes:
    return between.join(rng.choice(("tide", "moon", "neap", "a", "because")) for _ in range(count)).encode()


def _span_table(rng: random.Random) -> bytes:
    span = rng.randrange(100_000, 10_000_000)
    return _html(f"<table><tr><td colspan={span} rowspan={span}>tide</td><td>moon</td></tr></table>" * 20)


KINDS: Mapping[str, Make] = {
    "grid.pdf": lambda r: pdfs.grid(r.randrange(30, 80), r.randrange(10, 40), outside=r.randrange(5_000, 30_000)),
    "bomb.pdf": lambda r: pdfs.bomb(r.randrange(50, 200)),
    "pages.pdf": lambda r: pdfs.many_pages(r.randrange(100, 250)),
    "truncated.pdf": lambda r: (whole := pdfs.grid(20, 10))[: r.randrange(20, len(whole))],
    "divs.html": lambda r: _html(nested("<div>", "</div>", r.randrange(500, 4_000))),
    "tables.html": lambda r: _html(nested("<table><tr><td>", "</td></tr></table>", r.randrange(100, 1_200))),
    "spans.html": _span_table,
    "cells.html": lambda r: _html(f"<table>{'<tr><td>a<td>b' * r.randrange(500, 3_000)}</table>"),
    "bomb.docx": lambda r: docx(paragraph("tide " * r.randrange(1_000_000, 5_000_000))),
    "paragraphs.docx": lambda r: docx(paragraph("a") * r.randrange(50_000, 200_000)),
    "tables.docx": lambda r: _table_docx(r.randrange(50, 3_000)),
    "quotes.md": lambda r: (">" * r.randrange(500, 20_000) + " The tide rises.").encode(),
    "brackets.md": lambda r: ("[" * r.randrange(5_000, 24_000) + "tide" + "](").encode(),
    "headings.md": lambda r: "\n\n".join(f"{'#' * (i % 6 + 1)} {i}" for i in range(r.randrange(500, 4_000))).encode(),
    "table.md": lambda r: "\n".join(f"{cell * 200}|" for cell in ("|a", "|-", *["|b"] * r.randrange(100))).encode(),
    "sentences.txt": lambda r: _words(r, r.randrange(4_000, 8_000), ". "),
    "word.txt": lambda r: b"tide" * r.randrange(1_000, 12_000),
    "combining.txt": lambda r: ("e" + "\u0301" * r.randrange(5_000, 20_000) + " tide.").encode(),
    "nulls.txt": lambda r: b"tide\x00" * r.randrange(100, 8_000),
}  # fmt: skip
"""File name -> how one is made."""


def poisons(count: int, seed: int) -> list[tuple[str, bytes]]:
    """So many files, of every kind in turn, under names of their own; none is larger than `LARGEST`."""
    rng, kinds, made = random.Random(seed), list(KINDS), list[tuple[str, bytes]]()
    for number in range(count):
        name = kinds[number % len(kinds)]
        data = KINDS[name](rng)
        made.append((f"{number:03}-{name}", data[:LARGEST]))
    return made
