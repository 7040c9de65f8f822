"""Small PDFs that are much work to read, written by hand: no library would make most of them."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence

_HEAD = b"%PDF-1.7\n"
_PAGE = 792


def pdf(content: bytes, *, pages: int = 1, filters: int = 1, box: Sequence[int] = (0, 0, 612, _PAGE)) -> bytes:
    """A document whose pages all show the same content, compressed ``filters`` times."""
    packed = content
    for _ in range(filters):
        packed = zlib.compress(packed, 9)
    named = " ".join(["/FlateDecode"] * filters)
    kids = " ".join(f"{5 + i} 0 R" for i in range(pages))
    edges = " ".join(map(str, box))
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [{edges}] /Contents 4 0 R /Resources << /Font << /F 3 0 R >> >> >>"
    return write_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            f"<< /Length {len(packed)} /Filter [{named}] >>\nstream\n".encode() + packed + b"\nendstream",
            *[page.encode()] * pages,
        ]
    )


def write_pdf(objects: Sequence[bytes]) -> bytes:
    """The file with these objects, from number 1."""
    body, places = bytearray(_HEAD), list[int]()
    for number, made in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + made + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return bytes(body) + (head + tail).encode()


def grid(rows: int, columns: int, outside: int = 0) -> bytes:
    """A ruled table with a word in every cell, and so many letters below it that are in none."""
    height, width = _PAGE / (rows + 2), 600 / columns
    drawn = ["0.2 w"]
    drawn += [f"6 {height * (row + 1):.2f} m 606 {height * (row + 1):.2f} l S" for row in range(rows + 1)]
    for column in range(columns + 1):
        left = 6 + width * column
        drawn.append(f"{left:.2f} {height:.2f} m {left:.2f} {height * (rows + 1):.2f} l S")
    for row in range(rows):
        for column in range(columns):
            x, y = 7 + width * column, height * (row + 1) + 1
            drawn.append(f"BT /F 3 Tf {x:.2f} {y:.2f} Td (tide) Tj ET")
    drawn += [f"BT /F 0.2 Tf 7 {line * 0.15:.2f} Td ({'ab' * 1000}) Tj ET" for line in range(outside // 2000)]
    return pdf("\n".join(drawn).encode())


def glyphs(count: int, rng: random.Random) -> bytes:
    """So many letters, each at a place of its own."""
    places = (f"1 0 0 1 {rng.randrange(600)} {rng.randrange(_PAGE)} Tm (a) Tj" for _ in range(count))
    return pdf(("BT /F 6 Tf " + " ".join(places) + " ET").encode())


def rules(count: int, rng: random.Random) -> bytes:
    """So many rectangles across each other, each of which might be a cell."""
    drawn = (
        f"{rng.randrange(500)} {rng.randrange(700)} {rng.randrange(2, 300)} {rng.randrange(2, 300)} re S"
        for _ in range(count)
    )
    return pdf(("0.2 w " + " ".join(drawn) + " BT /F 8 Tf 20 20 Td (The tide rises.) Tj ET").encode())


def bomb(megabytes: int) -> bytes:
    """A content stream that is small on disk and this large when it is unpacked."""
    return pdf(b"q Q " * (megabytes * 250_000), filters=2)


def many_pages(pages: int) -> bytes:
    """Pages that all show the same text."""
    return pdf(b"BT /F 9 Tf 20 700 Td (The tide rises twice a day, and falls.) Tj ET", pages=pages)


def vast() -> bytes:
    """A page of a square kilometre, with a word in a corner of it."""
    return pdf(b"BT /F 9000 Tf 20 700 Td (tide) Tj ET", box=(0, 0, 2_834_000, 2_834_000))


def circle() -> bytes:
    """A tree of pages that is its own child."""
    pages = b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 /Parent 3 0 R >>"
    return write_pdf([b"<< /Type /Catalog /Pages 2 0 R >>", pages, b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"])


def nested(depth: int) -> bytes:
    """A catalogue with an array in an array in an array ..."""
    deep = b"[" * depth + b"]" * depth
    return write_pdf([b"<< /Type /Catalog /Pages 2 0 R /X " + deep + b" >>", b"<< /Type /Pages /Kids [] /Count 0 >>"])
