"""PDF files in a few lines, where what a library writes would be too tidy."""

import zlib


def raw_pdf(content: str, width: int, height: int) -> bytes:
    """One page with this content; font F is Helvetica."""
    stream = zlib.compress(content.encode())
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R "
        "/Resources << /Font << /F 5 0 R >> >> >>".encode(),
        f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode() + stream + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", list[int]()
    for i, body in enumerate(objects, 1):
        places.append(len(made))
        made += f"{i} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 6\n0000000000 65535 f \n{table}trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF"
    return made + end.encode()


def endless_pdf() -> bytes:
    """A few kilobytes that take more than ten seconds to read: a million letters."""
    return raw_pdf("BT /F 4 Tf 3 60000 Td " + f"0 -6 Td ({'abcdefghij' * 10}) Tj\n" * 10_000 + "ET", 600, 60_100)
