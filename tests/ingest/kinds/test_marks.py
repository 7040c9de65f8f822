"""Marks that change what a text says: struck, hidden, tracked, raised and lowered text, check boxes, list numbers."""

from io import BytesIO
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import RGBColor
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.util import Inches

from tests.ingest.kinds.quotes import quotes, read, units, with_xml

PRICES = """<style>.old { text-decoration: line-through } .new { text-decoration: underline }</style>
<p>The ticket costs <del>30</del> 25 euros.</p>
<p>The ticket costs <s>30 euros</s> <strong>25 euros</strong> for members.</p>
<p>Parking costs <strike>5</strike> 7 euros.</p>
<p>The deposit is <span style="text-decoration: red line-through">50</span> 80 euros.</p>
<p>The book costs <span class="old">9</span> <span class="new">8</span> euros.
<del>It is <del>not</del> sold.</del></p>"""


def test_struck_text_of_a_page_is_left_out_and_counted() -> None:
    """A struck price is not a price."""
    file = read("a.html", PRICES)
    assert file.text.split("\n\n") == [
        "The ticket costs 25 euros.",
        "The ticket costs 25 euros for members.",
        "Parking costs 7 euros.",
        "The deposit is 80 euros.",
        "The book costs 8 euros.",
    ]
    assert file.unread == {"struck passage": 6}


MARKDOWN = """# Prices

The ticket costs ~~30~~ 25 euros.

~~Dogs are allowed in the hall.~~

Dogs are not allowed in the hall. ~~Cats are. Birds are.~~ Fish are welcome.

The lamp costs <del>9</del> 8 euros. Write `a ~~ b` and `c ~~ d` to strike.

We close ~~at nine. On Sundays we close~~ at ten.

| Dish | Price |
| --- | --- |
| Soup | ~~4~~ 5 euros |
"""


def test_struck_text_of_markdown_stays_in_the_text_and_out_of_quotations() -> None:
    """The file's own text is the canonical text, so its marks stay there."""
    assert quotes("a.md", MARKDOWN) == [
        "The ticket costs 25 euros.",
        "Dogs are not allowed in the hall.",
        "Fish are welcome.",
        "The lamp costs 8 euros.",
        "Write a ~~ b and c ~~ d to strike.",
        "We close at ten.",
        "Soup, Price: 5 euros.",
    ]
    file = read("a.md", MARKDOWN)
    assert file.text == MARKDOWN
    assert file.unread == {"struck passage": 6}
    assert all(MARKDOWN[unit.span.start : unit.span.end] == unit.text for unit in units("a.md", MARKDOWN))


def test_tildes_of_plain_text_strike_nothing() -> None:
    """Plain text has no marks."""
    text = "The value is ~~30~~ about right.\n"
    assert quotes("a.txt", text) == ["The value is ~~30~~ about right."]
    assert read("a.txt", text).unread == {}


def word(*runs: tuple[str, str]) -> bytes:
    """A Word file with one paragraph of runs, each with what is set in its font."""
    document: Any = docx.Document()
    line = document.add_paragraph()
    for text, name in runs:
        run = line.add_run(text)
        if name == "white":
            run.font.color.rgb = RGBColor(255, 255, 255)
        elif name:
            setattr(run.font, name, True)
    document.save(buffer := BytesIO())
    return buffer.getvalue()


@pytest.mark.parametrize("mark", ["strike", "double_strike"])
def test_struck_runs_of_a_word_file_are_one_passage(mark: str) -> None:
    """Word cuts a passage into runs as it likes."""
    file = read("a.docx", word(("The forklift weighs ", ""), ("3 ", mark), ("tonnes ", mark), ("4 tonnes.", "")))
    assert (file.text, file.unread) == ("The forklift weighs 4 tonnes.", {"struck passage": 1})


def test_white_text_of_a_word_file_is_hidden_unless_it_is_shaded() -> None:
    """White on white is a way of hiding; white on a colour is a way of showing."""
    data = word(("It costs 5 euros.", ""), (" It costs 2 dollars.", "white"))
    file = read("a.docx", data)
    assert (file.text, file.unread) == ("It costs 5 euros.", {"hidden text": 1})
    shade = '<w:pPr><w:shd w:val="clear" w:fill="000000"/></w:pPr><w:r>'
    shaded = with_xml(data, {"word/document.xml": ("<w:p><w:r>", f"<w:p>{shade}")})
    assert read("a.docx", shaded).text == "It costs 5 euros. It costs 2 dollars."


def test_what_a_style_hides_or_strikes_is_left_out() -> None:
    """A style does what a run's own form does."""
    document: Any = docx.Document()
    for name, mark in (("Old", "strike"), ("Internal", "hidden")):
        style = document.styles.add_style(name, WD_STYLE_TYPE.CHARACTER)
        setattr(style.font, mark, True)
    line = document.add_paragraph("It costs ")
    line.add_run("3 ", style="Old")
    line.add_run("(secret) ", style="Internal")
    line.add_run("4 euros.")
    document.save(buffer := BytesIO())
    file = read("a.docx", buffer.getvalue())
    assert (file.text, file.unread) == ("It costs 4 euros.", {"struck passage": 1})


def test_tracked_changes_are_read_as_accepted() -> None:
    """Deleted words are gone, inserted and moved ones are there."""
    changes = (
        "It costs </w:t></w:r><w:del><w:r><w:delText>3</w:delText></w:r></w:del><w:ins><w:r><w:t>4</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t> dollars</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t> euros</w:t></w:r></w:moveTo>"
        "<w:r><w:t>."
    )
    data = with_xml(word(("It costs 0.", "")), {"word/document.xml": ("It costs 0.", changes)})
    assert read("a.docx", data).text.replace("costs4", "costs 4") == "It costs 4 euros."


def test_comments_of_a_word_file_are_counted() -> None:
    """They are not in the text."""
    document: Any = docx.Document()
    document.add_comment(document.add_paragraph("It costs 4 euros.").runs, "Really?", "Ada", "A")
    document.save(buffer := BytesIO())
    assert read("a.docx", buffer.getvalue()).unread == {"comment": 1}


def slide(*runs: tuple[str, dict[str, str]]) -> bytes:
    deck: Any = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[5]).shapes
    line = shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame.paragraphs[0]
    for text, marks in runs:
        run = line.add_run()
        run.text = text
        for name, value in marks.items():
            run.font._element.set(name, value)
    deck.save(buffer := BytesIO())
    return buffer.getvalue()


def test_marks_of_a_slide() -> None:
    """Struck runs are gone, raised and lowered ones are written on the line."""
    struck = slide(("Coffee costs ", {}), ("2 euros ", {"strike": "sngStrike"}), ("3 euros.", {"strike": "noStrike"}))
    file = read("a.pptx", struck)
    assert (file.text, file.unread) == ("Coffee costs 3 euros.", {"struck passage": 1})
    raised = slide(
        ("10", {}), ("6", {"baseline": "30000"}), (" x", {}), ("1", {"baseline": "-25000"}), (" on the 1", {})
    )
    assert read("a.pptx", raised).text == "10^6 x_1 on the 1"


def test_numbers_of_a_slide_s_list() -> None:
    """PowerPoint counts them itself; an item of another form ends the list."""
    deck: Any = pptx.Presentation()
    body = deck.slides.add_slide(deck.slide_layouts[1]).placeholders[1].text_frame
    body.text = "Open the lid."
    for text in ("Press the key.", "Note this.", "Close the lid."):
        body.add_paragraph().text = text
    for i in (0, 1, 3):
        number = (
            body.paragraphs[i]
            ._p.get_or_add_pPr()
            .makeelement(
                "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum",
                {"type": "arabicPeriod", "startAt": "3"},
            )
        )
        body.paragraphs[i]._p.get_or_add_pPr().append(number)
    deck.save(buffer := BytesIO())
    assert read("a.pptx", buffer.getvalue()).text == (
        "- 3. Open the lid.\n- 4. Press the key.\n- Note this.\n- 3. Close the lid."
    )


def test_marks_of_a_sheet() -> None:
    """A struck row is left out, and does not end the table."""
    book: Any = openpyxl.Workbook()
    sheet = book.active
    for row in (["Dish", "Price"], ["Soup", 4], ["Stew", 7], ["Cake", None], ["secret", "no"]):
        sheet.append(row)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for cell in (sheet["A3"], sheet["B3"]):
        cell.font = Font(strike=True)
    for cell in (sheet["A5"], sheet["B5"]):
        cell.font = Font(color="FFFFFFFF")
    old, raised = InlineFont(strike=True), InlineFont(vertAlign="superscript")
    sheet["B4"] = CellRichText(TextBlock(old, "9"), " 8 m", TextBlock(raised, "2"))
    book.save(buffer := BytesIO())
    file = read("a.xlsx", buffer.getvalue())
    assert file.text == "# Sheet\n\n| Dish | Price |\n| --- | --- |\n| Soup | 4 |\n| Cake | 8 m^2 |"
    assert file.unread == {"struck passage": 3, "hidden text": 2}


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("10<sup>6</sup> cells", "10^6 cells"),
        ("10<sup>−6</sup> cells", "10^−6 cells"),
        ("2<sup>n+1</sup> cells", "2^(n+1) cells"),
        ("x<sup>n</sup> cells", "x^n cells"),
        ("e<sup> − 2<i>r</i></sup> cells", "e^(−2r) cells"),
        ("2<sup>k − 1</sup> cells", "2^(k−1) cells"),
        ("x<sub>i + 1</sub><sup>2</sup> cells", "x_(i+1)^2 cells"),
        ("the 1<sup>st</sup> of May", "the 1st of May"),
        ("le 2<sup>e</sup> jour", "le 2e jour"),
        ("Acme<sup>TM</sup> Ltd<sup>®</sup>", "AcmeTM Ltd®"),
        ("see<sup>[3]</sup>", "see[3]"),
        ("x<sub>1</sub> and x<sub>max</sub>", "x_1 and x_max"),
        ("x<sub>i+1</sub>", "x_(i+1)"),
        ("log<sub>2</sub> 8 and 101<sub>2</sub>", "log_2 8 and 101_2"),
        ("H<sub>2</sub>SO<sub>4</sub>, Ca(OH)<sub>2</sub>, B<sub>12</sub>", "H2SO4, Ca(OH)2, B12"),
        ("<sup>1</sup>⁄<sub>2</sub> cup", "1/2 cup"),
        ("1<sup>1</sup>/<sub>2</sub> cups", "1 1/2 cups"),
        ("5 m<sup>2</sup>/s", "5 m^2/s"),
        ("½ cup or 10⁶", "½ cup or 10⁶"),
    ],
)
def test_raised_and_lowered_text_is_written_on_the_line(html: str, text: str) -> None:
    """A page and a Markdown file with tags say the same."""
    assert read("a.html", f"<p>We have {html}.</p>").text == f"We have {text}."
    assert units("a.md", f"We have {html}.")[0].body == f"We have {text}."


def test_raised_text_in_raised_text_is_in_brackets() -> None:
    html = "<p>Of x<sup>10<sup>4</sup></sup> and r<sub>T<sub>in</sub></sub> the first is larger.</p>"
    assert read("a.html", html).text == "Of x^(10^4) and r_(T_in) the first is larger."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.html",
            "<ul><li><input type=checkbox checked> Rent is paid.</li><li><input type=checkbox> Tax is due.</li></ul>",
        ),
        ("a.md", "- ☑ Rent is paid.\n- ☐ Tax is due.\n"),
    ],
)
def test_check_boxes_keep_their_state(name: str, text: str) -> None:
    """Whether something is done is what a check list says."""
    assert quotes(name, text) == ["☑ Rent is paid.", "☐ Tax is due."]


def test_tasks_of_markdown_keep_their_state() -> None:
    """As written, since the text is the file's own."""
    assert quotes("a.md", "- [x] Rent is paid.\n- [ ] Tax is paid.\n") == ["[x] Rent is paid.", "[ ] Tax is paid."]


def test_a_toggle_without_words_is_no_check_box() -> None:
    """Menus of web pages are opened by such boxes."""
    assert read("a.html", "<input type=checkbox id=menu><label for=menu></label><p>Rent.</p>").text == "Rent."


def test_a_content_control_of_word_keeps_its_state() -> None:
    """Word 2010 and later."""
    box = (
        'Rent: </w:t></w:r><w:sdt xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w:sdtPr>'
        '<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>☒</w:t></w:r>'
        "</w:sdtContent></w:sdt><w:r><w:t> paid."
    )
    data = with_xml(word(("Rent: .", "")), {"word/document.xml": ("Rent: .", box)})
    assert read("a.docx", data).text == "Rent: ☑ paid."


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ol start=3><li>Open.<li>Close.</ol>", "3. Open.\n4. Close."),
        ("<ol type=a><li>Open.<li value=5>Close.</ol>", "- a. Open.\n- e. Close."),
        ("<ol type=I start=4><li>Open.<li>Close.</ol>", "- IV. Open.\n- V. Close."),
        ("<ol reversed><li>Open.<li>Close.</ol>", "2. Open.\n1. Close."),
        ("<ol style='list-style-type: lower-roman'><li>Open.</ol>", "- i. Open."),
        ("<ol style='list-style: none'><li>Open.</ol>", "- Open."),
        ("<ol><li>Open.<ol type=A><li>Left.</ol><li>Close.</ol>", "1. Open.\n   - A. Left.\n2. Close."),
    ],
)
def test_items_of_a_page_keep_their_numbers(html: str, text: str) -> None:
    """ "Step 4" is the step that the reader sees as 4."""
    assert read("a.html", html).text == text


NUMBERING = """<w:abstractNum w:abstractNumId="90"><w:lvl w:ilvl="0"><w:start w:val="2"/><w:numFmt w:val="decimal"/>
<w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/>
<w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="92">
<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="☐"/></w:lvl></w:abstractNum>
<w:num w:numId="92"><w:abstractNumId w:val="92"/></w:num>
<w:num w:numId="90"><w:abstractNumId w:val="90"/></w:num>
<w:num w:numId="91"><w:abstractNumId w:val="90"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>
</w:lvlOverride></w:num>"""


def numbered(*lines: tuple[str, int, int, str]) -> bytes:
    """A Word file whose paragraphs have a text, a list, a level and a style."""
    document: Any = docx.Document()
    for text, number, level, style in lines:
        properties = document.add_paragraph(text, style=style)._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_numId().val = number
        properties.get_or_add_ilvl().val = level
    document.save(buffer := BytesIO())
    return with_xml(buffer.getvalue(), {"word/numbering.xml": ("</w:numbering>", f"{NUMBERING}</w:numbering>")})


def test_items_and_headings_of_a_word_file_keep_their_numbers() -> None:
    """Word computes them from a start, a form and the numbers above."""
    lines = [
        ("Scope", 90, 0, "Heading 1"),
        ("Open.", 90, 1, "Normal"),
        ("Close.", 90, 1, "Normal"),
        ("Terms", 90, 0, "Heading 1"),
        ("Pay.", 90, 1, "Normal"),
        ("Start again.", 91, 0, "Normal"),
    ]
    assert read("a.docx", numbered(*lines)).text == (
        "# 2. Scope\n\n- 2.a) Open.\n- 2.b) Close.\n\n# 3. Terms\n\n- 3.a) Pay.\n\n7. Start again."
    )


def test_an_empty_box_for_a_bullet_says_that_a_task_is_open() -> None:
    """Task lists of Word."""
    assert read("a.docx", numbered(("Pay the rent.", 92, 0, "Normal"))).text == "- ☐ Pay the rent."
