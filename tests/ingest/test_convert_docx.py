import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import docx
import pytest
from docx.document import Document as DocxDocument

from discorag.ingest.convert.docx import from_docx
from discorag.ingest.loaders import Source, load
from discorag.schema.errors import DecodingError, DocumentTooLargeError

PATH = Path("notes.docx")
LIMIT = 10_000_000


def made() -> bytes:
    document = docx.Document()
    document.add_heading("Tides", 0)
    document.add_heading("Range", 1)
    line = document.add_paragraph("The tide ")
    line.add_run("ri").bold = True
    line.add_run("ses.")
    document.add_paragraph("spring", style="List Bullet")
    document.add_paragraph("neap", style="List Bullet")
    table = document.add_table(2, 2)
    for i, text in enumerate(["Place", "Range", "Fundy", "16 m"]):
        table.cell(i // 2, i % 2).text = text
    document.add_paragraph("for x in y:", style="macro")
    document.add_paragraph("    print(x)", style="macro")
    document.add_paragraph("The end.")
    return saved(document)


def saved(document: DocxDocument) -> bytes:
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def zipped(parts: dict[str, str]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_headings_lists_tables_and_code_keep_their_form() -> None:
    assert from_docx(made(), PATH, max_bytes=LIMIT).text == (
        "# Tides\n\n# Range\n\nThe tide rises.\n\n- spring\n- neap\n\n"
        "| Place | Range |\n| --- | --- |\n| Fundy | 16 m |\n\n"
        "```\nfor x in y:\n    print(x)\n```\n\nThe end."
    )


def test_a_word_file_is_titled_by_its_first_heading_else_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.docx"
    path.write_bytes(made())
    assert load(Source(path, "u"), max_bytes=LIMIT).title == "Tides"
    document = docx.Document()
    document.add_paragraph("Text.")
    path.write_bytes(saved(document))
    assert load(Source(path, "u"), max_bytes=LIMIT).title == "notes"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04 cut off", "damaged, or is not a Word document"),
        (b"plain text", "damaged, or is not a Word document"),
        (made()[:-200], "damaged, or is not a Word document"),
        (zipped({"xl/workbook.xml": "<workbook/>"}), "damaged, or is not a Word document"),
        (zipped({"word/document.xml": "<broken"}), "damaged, or is not a Word document"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "locked by a password"),
    ],
    ids=["cut", "text", "no directory", "spreadsheet", "bad xml", "locked"],
)
def test_what_is_no_word_document_says_so(data: bytes, message: str) -> None:
    with pytest.raises(DecodingError, match=rf"notes\.docx is .*{message}") as error:
        from_docx(data, PATH, max_bytes=LIMIT)
    assert error.value.hint


def test_a_file_that_unpacks_beyond_the_limit_is_not_unpacked() -> None:
    bomb = zipped({"word/document.xml": "<x>" + "a" * 20_000_000 + "</x>"})
    assert len(bomb) < 100_000
    with pytest.raises(DocumentTooLargeError, match=r"20\.0 MB.*limit is 10\.0 MB"):
        from_docx(bomb, PATH, max_bytes=LIMIT)


def with_part(name: str, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = BytesIO(made())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(name, content, method)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["word/media/image1.png", "customXml/item.bin", "notes.txt"])
def test_every_part_counts_towards_the_size(name: str) -> None:
    with pytest.raises(DocumentTooLargeError, match=r"notes\.docx has 12\.\d MB when it is unpacked; the limit is 10"):
        from_docx(with_part(name, bytes(12_000_000)), PATH, max_bytes=LIMIT)


def test_a_part_that_lies_about_its_length_is_not_unpacked_beyond_it() -> None:
    data = with_part("customXml/item.bin", bytes(50_000_000))
    at = data.rindex(b"PK\x01\x02")  # its entry in the directory of the zip
    lying = data[: at + 24] + (1000).to_bytes(4, "little") + data[at + 28 :]
    tracemalloc.start()
    with pytest.raises(DecodingError, match="damaged"):
        from_docx(lying, PATH, max_bytes=LIMIT)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_parts_packed_as_no_word_processor_does_are_refused() -> None:
    with pytest.raises(DecodingError, match="damaged"):
        from_docx(with_part("word/extra.xml", b"<a/>", zipfile.ZIP_LZMA), PATH, max_bytes=LIMIT)


def test_hidden_text_is_left_out() -> None:
    document = docx.Document()
    line = document.add_paragraph("The tide ")
    line.add_run("always sinks ").font.hidden = True
    line.add_run("rises").font.hidden = False
    line.add_run(".")
    assert from_docx(saved(document), PATH, max_bytes=LIMIT).text == "The tide rises."
