"""PDF files in a few lines, where what a library writes would be too tidy."""

import zlib


def raw_pdf(content: str, width: int, height: int, fields: tuple[str, ...] = ()) -> bytes:
    """One page with this content, and a form of these fields.

    Font F is Helvetica, graphics state G lets through what is below, and image I is one black pixel.
    """
    stream = zlib.compress(content.encode("latin-1"))
    first = 8
    annotations = " ".join(f"{first + i} 0 R" for i in range(len(fields)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{annotations}] /DA (/F 9 Tf) "
        "/DR << /Font << /F 5 0 R >> >> >> >>".encode(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R /Annots [{annotations}] "
        "/Resources << /Font << /F 5 0 R >> /ExtGState << /G 6 0 R >> /XObject << /I 7 0 R >> >> >>".encode(),
        f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode() + stream + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /ExtGState /ca 0.3 >>",
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>"
        b"\nstream\n\x00\nendstream",
        *(f"<< /Type /Annot /Subtype /Widget /F 4 /P 3 0 R {field} >>".encode() for field in fields),
    ]
    made, places = b"%PDF-1.4\n", list[int]()
    for i, body in enumerate(objects, 1):
        places.append(len(made))
        made += f"{i} 0 obj\n".encode() + body + b"\nendobj\n"
    table, size = "".join(f"{place:010d} 00000 n \n" for place in places), len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF"
    return made + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def endless_pdf() -> bytes:
    """A few kilobytes that take more than ten seconds to read: a million letters."""
    return raw_pdf("BT /F 4 Tf 3 60000 Td " + f"0 -6 Td ({'abcdefghij' * 10}) Tj\n" * 10_000 + "ET", 600, 60_100)
