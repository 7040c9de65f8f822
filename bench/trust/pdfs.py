"""Small PDFs that are much work to read, written by hand: no library would make most of them."""

import zlib
from collections.abc import Sequence

_HEAD = b"%PDF-1.7\n"
_PAGE = 792


def pdf(content: bytes, *, pages: int = 1, filters: int = 1) -> bytes:
    """A document whose pages all show the same content, compressed ``filters`` times."""
    packed = content
    for _ in range(filters):
        packed = zlib.compress(packed, 9)
    named = " ".join(["/FlateDecode"] * filters)
    kids = " ".join(f"{5 + i} 0 R" for i in range(pages))
    shown = "/Contents 4 0 R /Resources << /Font << /F 3 0 R >> >>"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 {_PAGE}] {shown} >>"
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


def bomb(megabytes: int) -> bytes:
    """A content stream that is small on disk and this large when it is unpacked."""
    return pdf(b"q Q " * (megabytes * 250_000), filters=2)


def many_pages(pages: int) -> bytes:
    """Pages that all show the same text."""
    return pdf(b"BT /F 9 Tf 20 700 Td (The tide rises twice a day, and falls.) Tj ET", pages=pages)
