"""What a file holds and its text does not is counted, stored and said."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from openpyxl.chart import BarChart
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from discorag.ingest.loaders import load
from discorag.ingest.survey import unread_summary
from discorag.schema.document import Document
from tests.ingest.test_convert_office import book, slides
from tests.interfaces.test_cli import run, run_json

PAGE = """<title>Tides</title><nav><img src="logo.png" alt="Logo"></nav><p>Tides rise. <img src="a.png" alt="A graph">
<img src="line.gif" alt=""><img src="home.png" alt="Home" width="16px"><img src="b.png"></p>
<svg><path d="M0"/></svg><svg><text>16 m</text></svg><p hidden><img src="c.png"></p>
<iframe src="map.html"></iframe><video src="v.mp4"></video>"""
MARKDOWN = """# Tides

Tides rise ![](a.png) and fall [![a door](b.png)](c.html).

![Map][m]

<img src="d.png" alt="Floor plan">

    ![in code](x.png)

[m]: m.png
"""


def png() -> BytesIO:
    Image.new("RGB", (64, 64)).save(buffer := BytesIO(), "PNG")
    buffer.seek(0)
    return buffer


def saved(office: Any) -> bytes:
    office.save(buffer := BytesIO())
    return buffer.getvalue()


def report() -> bytes:
    made: Any = docx.Document()
    run = made.add_paragraph("Tides rise.").add_run()
    run.add_picture(png())
    made.add_comment(run, text="By how much?")
    made.sections[0].header.paragraphs[0].text = "Valid until May"
    made.sections[0].footer.paragraphs[0].text = "7"
    return saved(made)


def deck() -> bytes:
    made: Any = pptx.Presentation()
    shapes = [made.slides.add_slide(made.slide_layouts[5]).shapes for _ in range(2)]
    made.slides[1].element.set("show", "0")
    for one in shapes:
        one.title.text = "Tides"
        one.add_picture(png(), 0, 0)
    data = CategoryChartData()
    data.categories = ["Fundy"]
    data.add_series("m", (16,))  # pyright: ignore[reportUnknownMemberType]
    shapes[0].add_chart(XL_CHART_TYPE.PIE, 0, 0, Inches(2), Inches(2), data)
    made.slides[0].notes_slide.notes_text_frame.text = "Ask the harbour master."
    return saved(made)


def workbook() -> bytes:
    made: Any = openpyxl.Workbook()
    sheet = made.active
    sheet.append(["Place", "Range"])
    sheet.append(["Fundy", 16])
    sheet.append(["Minas", 12])
    sheet["B2"].comment = Comment("Spring tide", "Ada")
    sheet.add_image(SheetImage(png()), "D2")
    sheet.add_chart(BarChart(), "D9")
    return saved(made)


def word_twice() -> bytes:
    """A picture in today's form, with its older form for programs that do not know it."""
    twice = (
        '<w:p xmlns:w="w" xmlns:mc="mc" xmlns:v="v" xmlns:pic="pic"><mc:AlternateContent><mc:Choice><pic:pic/>'
        "</mc:Choice><mc:Fallback><v:imagedata/></mc:Fallback></mc:AlternateContent></w:p>"
    )
    with zipfile.ZipFile(BytesIO(report())) as old, zipfile.ZipFile(buffer := BytesIO(), "w") as new:
        for name in old.namelist():
            part = old.read(name).decode("latin-1")
            new.writestr(name, part.replace("</w:body>", f"{twice}</w:body>").encode("latin-1"))
    return buffer.getvalue()


def epub() -> bytes:
    return book(**{"OEBPS/b.xhtml": '<html><body><img src="cover.png"/><p>Slowly.</p></body></html>'})


FILES: dict[str, tuple[Callable[[], bytes], dict[str, int]]] = {
    "a.html": (PAGE.encode, {"image": 3, "embedded page": 1, "video": 1}),
    "a.md": (MARKDOWN.encode, {"image": 4}),
    "plain.md": ("Tides rise!".encode, {}),
    "a.epub": (epub, {"image": 1}),
    "a.docx": (report, {"image": 1, "comment": 1, "page header": 1}),
    "twice.docx": (word_twice, {"image": 2, "comment": 1, "page header": 1}),
    "a.pptx": (deck, {"image": 1, "chart": 1, "speaker note": 1}),
    "notes.pptx": (slides, {"speaker note": 1}),
    "a.xlsx": (workbook, {"image": 1, "chart": 1, "comment": 1}),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_reader_of_the_file_sees_and_the_text_lacks_is_counted_by_kind(name: str, tmp_path: Path) -> None:
    """Each format counts its own; decoration and what the file hides do not count."""
    make, expected = FILES[name]
    (tmp_path / name).write_bytes(make())
    assert load(tmp_path / name, max_bytes=10**7).unread == expected


def test_a_summary_adds_up_the_documents_that_were_not_read_as_a_whole() -> None:
    """Complete documents do not count, and there is nothing to say if all are complete."""
    told = unread_summary([{"image": 3, "equation": 1}, {}, {"form field": 2}, {"image": 2}])
    assert told == "3 documents have 5 images, 1 equation and 2 form fields that were not read."
    assert unread_summary([{"formula without value": 1}]) == "1 document has 1 formula without value that was not read."
    assert unread_summary([{}]) == ""


def test_the_command_line_says_it_after_an_ingest_and_in_the_status(tmp_path: Path) -> None:
    """The counts are in the JSON of both, and a second ingest, which changes nothing, says it again."""
    (tmp_path / "tides.md").write_text(MARKDOWN, encoding="utf-8")
    (tmp_path / "plain.md").write_text("Tides rise.", encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("tides.md", "plain.md")]
    ingested = [run(tmp_path, "ingest", path, "--parser", "rules") for path in (*paths, paths[0])]
    said = ["1 document has 4 images that were not read." in text for text in ingested]
    assert said == [True, False, True]
    assert "4 images" in run(tmp_path, "status")
    assert sorted(len(row["unread"]) for row in run_json(tmp_path, "status")) == [0, 1]


def test_a_document_without_unread_things_has_the_hash_that_earlier_versions_gave_it() -> None:
    """Counts belong to the content: a file that only gains a picture is stored again, and others stay as they are."""
    plain = Document(uri="a", title="T", text="Tides rise.")
    assert plain.content_hash == Document(uri="b", title="T", text="Tides rise.", unread={}).content_hash
    assert plain.content_hash != Document(uri="a", title="T", text="Tides rise.", unread={"image": 1}).content_hash
