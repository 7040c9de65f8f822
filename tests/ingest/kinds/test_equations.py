"""Equations in one line, in pages and office files."""

from io import BytesIO
from typing import Any

import docx
import pptx
import pytest
from pptx.util import Inches

from tests.ingest.kinds.quotes import quotes, read, with_xml

MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def page(body: str) -> str:
    return f"<h1>Facts</h1><p>The value is <math>{body}</math> metres here.</p>"


@pytest.mark.parametrize(
    ("mathml", "line"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "3 1/2"),
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10^6"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup>", "10^−6"),
        ("<msup><mi>x</mi><mfrac><mn>1</mn><mn>2</mn></mfrac></msup>", "x^(1/2)"),
        ("<msub><mi>x</mi><mn>1</mn></msub><mi>y</mi>", "x_1 y"),
        ("<mfrac><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac>", "(x+1)/2"),
        ("<mi>a</mi><mo>/</mo><mfrac><mi>b</mi><mi>c</mi></mfrac>", "a/(b/c)"),
        ("<mn>4</mn><msup><mn>1</mn><mn>2</mn></msup><mi>x</mi>", "41^2 x"),
        ("<mfrac><mn>1</mn><mn>3</mn></mfrac><mo>(</mo><mi>x</mi><mo>)</mo>", "1/3 (x)"),
        ("<mfrac><mn>2</mn><mrow><mi>n</mi><mo>(</mo><mi>n</mi><mo>)</mo></mrow></mfrac>", "2/(n(n))"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mi>y</mi>", "sqrt(x+1) y"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "root(3,8)"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
            "<msub><mi>x</mi><mi>i</mi></msub>",
            "sum_(i=1)^n x_i",
        ),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "bar(x)"),
        ("<msup><mn>90</mn><mo>∘</mo></msup>", "90°"),
        ("<mi>sin</mi><mi>x</mi>", "sin x"),
        ("<semantics><mfrac><mn>1</mn><mn>2</mn></mfrac><annotation>\\frac12</annotation></semantics>", "1/2"),
        ("<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "_6^14 C"),
        ("<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mo>=</mo><mn>1</mn></mtd></mtr></mtable>", "a=1"),
    ],
)
def test_mathml_is_written_in_a_line(mathml: str, line: str) -> None:
    """Brackets stand where the line would else say something else."""
    assert quotes("a.html", page(mathml)) == [f"The value is {line} metres here."]


MATRIX = "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>"


@pytest.mark.parametrize(
    "mathml",
    [
        MATRIX,
        f"<mrow><mo>(</mo>{MATRIX}<mo>)</mo></mrow>",
        "<menclose notation='updiagonalstrike'><mn>5</mn></menclose>",
        "<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>",
    ],
)
def test_what_no_line_can_say_is_marked_and_counted(mathml: str) -> None:
    """A sentence with a hole would be another sentence."""
    file = read("a.html", page(mathml))
    assert file.text.endswith("The value is [equation] metres here.")
    assert file.unread == {"equation": 1}


def test_an_equation_that_is_hidden_next_to_its_picture_is_read() -> None:
    """An encyclopedia shows a picture of the equation, and hides the equation for screen readers."""
    html = "<p>It is <span><span style='display:none'><math><mn>7</mn></math></span><img alt='7'></span> metres.</p>"
    assert read("a.html", html).text == "It is 7 metres."


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def omml(body: str) -> bytes:
    document: Any = docx.Document()
    document.add_paragraph("The value is HERE metres.")
    document.save(buffer := BytesIO())
    new = f'The value is </w:t></w:r><m:oMath xmlns:m="{MATH}">{body}</m:oMath><w:r><w:t xml:space="preserve"> metres.'
    return with_xml(buffer.getvalue(), {"word/document.xml": ("The value is HERE metres.", new)})


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (run("F=400"), "F=400"),
        (f"{run('3')}<m:f><m:num>{run('1')}</m:num><m:den>{run('2')}</m:den></m:f>", "3 1/2"),
        (f"<m:sSup><m:e>{run('10')}</m:e><m:sup>{run('6')}</m:sup></m:sSup>", "10^6"),
        (f"<m:sSub><m:e>{run('x')}</m:e><m:sub>{run('1')}</m:sub></m:sSub>", "x_1"),
        (f"<m:rad><m:radPr><m:degHide m:val='1'/></m:radPr><m:deg/><m:e>{run('2')}</m:e></m:rad>", "sqrt(2)"),
        (
            f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{run('i=1')}</m:sub><m:sup>{run('n')}</m:sup>"
            f"<m:e>{run('i')}</m:e></m:nary>",
            "sum_(i=1)^n i",
        ),
        (f"<m:d><m:e>{run('a+b')}</m:e></m:d>", "(a+b)"),
        (f"<m:func><m:fName>{run('cos')}</m:fName><m:e>{run('x')}</m:e></m:func>", "cos x"),
        (f"<m:acc><m:e>{run('x')}</m:e></m:acc>", "hat(x)"),
        (f"{run('5')}<w:del><m:r><m:t>6</m:t></m:r></w:del>", "5"),
        (f"<m:m><m:mr><m:e>{run('1')}</m:e><m:e>{run('2')}</m:e></m:mr></m:m>", "[equation]"),
    ],
)
def test_omml_of_a_word_file_is_written_in_a_line(body: str, line: str) -> None:
    """Mammoth alone drops it without a word."""
    file = read("a.docx", omml(body))
    assert file.text == f"The value is {line} metres."
    assert file.unread == ({"equation": 1} if line == "[equation]" else {})


def test_omml_of_a_slide_is_written_in_a_line() -> None:
    """PowerPoint keeps it in an alternative for newer versions."""
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame.text = "The value is HERE."
    deck.save(buffer := BytesIO())
    fraction = f"<m:f><m:num>{run('1')}</m:num><m:den>{run('2')}</m:den></m:f>"
    new = (
        "<a:r><a:t>The value is </a:t></a:r>"
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice '
        'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" Requires="a14"><a14:m>'
        f'<m:oMath xmlns:m="{MATH}">{fraction}</m:oMath></a14:m></mc:Choice></mc:AlternateContent>'
        "<a:r><a:t>.</a:t></a:r>"
    )
    data = with_xml(buffer.getvalue(), {"ppt/slides/slide1.xml": ("<a:r><a:t>The value is HERE.</a:t></a:r>", new)})
    assert read("a.pptx", data).text == "The value is 1/2."


def test_a_line_of_the_source_that_begins_with_an_equation_begins_no_sentence() -> None:
    """Books wrap their source at every equation."""
    html = "<p>This is false, such as\n<span>\n<math>\n<mn>1</mn><mo>=</mo><mn>6</mn></math>\n</span>, or so.</p>"
    assert quotes("a.html", html) == ["This is false, such as 1=6 , or so."]
