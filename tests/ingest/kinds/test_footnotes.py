"""Notes are found, and quoted with the sentence that refers to them."""

from io import BytesIO
from typing import Any

import docx
import pytest

from tests.ingest.kinds.quotes import quotes, read, units, with_xml

NOTE = "[^1]: For members it is 20 euros."
FEE = "The fee[^1] is 30 euros."


@pytest.mark.parametrize(
    "html",
    [
        "<p>The fee<sup><a href='#fn1' id='r1'>1</a></sup> is 30 euros.</p>"
        "<ol><li id='fn1'><p>For members it is 20 euros. <a href='#r1'>↩</a></p></li></ol>",
        "<p>The fee<a class='footnote-ref' href='#fn:1' id='r:1'><sup>1</sup></a> is 30 euros.</p>"
        "<div class='footnotes'><p id='fn:1'><sup>1</sup> For members it is 20 euros.</p></div>",
        "<p>The fee<a class='footnote-reference' href='#id2' id='id1'>[1]</a> is 30 euros.</p><aside id='id2'>"
        "<span>[<a role='doc-backlink' href='#id1'>1</a>]</span><p>For members it is 20 euros.</p></aside>",
        "<p>The fee<sup>[<a name='id1' href='#ftn.id1'>1</a>]</sup> is 30 euros.</p>"
        "<div class='footnote'><p><sup>[<a name='ftn.id1' href='#id1'>1</a>] </sup>"
        "For members it is 20 euros.</p></div>",
    ],
    ids=["list", "paragraph", "docutils", "docbook"],
)
def test_a_note_of_a_page_is_written_as_markdown_has_it(html: str) -> None:
    """However the page marks its notes up."""
    assert read("a.html", html).text == f"{FEE}\n\n{NOTE}"


def test_a_figure_at_the_start_of_a_note_is_not_taken_for_its_number() -> None:
    """The note on reference 2 may say "2 euros"."""
    html = "<p>A fee<sup><a href='#n'>2</a></sup> is due.</p><ol start=2><li id=n>2 euros for members.</li></ol>"
    assert read("a.html", html).text.endswith("[^2]: 2 euros for members.")


def test_marks_in_a_note_are_written_as_anywhere() -> None:
    """A note is one line, in which 10 to the 6th is not 106, a half is not 12, and a struck word is not read."""
    html = (
        "<p>Many<sup><a href='#n' id=r>1</a></sup> come.</p><ol><li id=n><p>Some 10<sup>6</sup>, not <s>5</s>, and "
        "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of them in May. <a href='#r'>↩</a></p></li></ol>"
    )
    assert read("a.html", html).text.endswith("[^1]: Some 10^6, not , and 1/2 of them in May.")


def test_a_link_to_a_section_stays_a_link() -> None:
    """Only a raised link, or one that is called a reference, leads to a note."""
    html = "<p>See section <a href='#s2'>2</a>.</p><div id=s2><p>The fee is 30 euros.</p></div>"
    assert read("a.html", html).text == "See section 2.\n\nThe fee is 30 euros."


FILES = [
    ("a.md", f"# Fees\n\n{FEE}\n\n{NOTE}\n"),
    ("a.txt", f"{FEE}\n\n{NOTE}\n"),
    ("a.html", "<p>The fee<sup><a href='#n'>1</a></sup> is 30 euros.</p><p id=n>For members it is 20 euros.</p>"),
]


@pytest.mark.parametrize(("name", "text"), FILES, ids=[name for name, _ in FILES])
def test_a_note_is_quoted_and_leads_back_to_its_sentence(name: str, text: str) -> None:
    """ "What is the fee for members?" finds the note, and the reader sees what it is a note on."""
    found = units(name, text)
    note = next(unit for unit in found if unit.body == NOTE)
    assert note.statement
    assert note.lead is not None
    assert found[note.lead].body == FEE


def test_two_sentences_with_one_label_lead_a_note_to_neither() -> None:
    """Chapters that number their notes from 1 again, with all notes at the end: no link is made up."""
    text = f"{FEE}\n\nThe deposit[^1] is 5 euros.\n\n{NOTE}\n\n[^1]: It is returned.\n"
    assert [unit.lead for unit in units("a.md", text) if unit.body.startswith("[^1]:")] == [None, None]


def test_notes_of_a_word_file_are_read() -> None:
    """Footnotes stand in a part of their own."""
    document: Any = docx.Document()
    document.add_paragraph("The fee is 30 euros.")
    document.save(buffer := BytesIO())
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    link = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    data = with_xml(
        buffer.getvalue(),
        {
            "word/document.xml": (
                "The fee is 30 euros.",
                'The fee</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r>'
                '<w:t xml:space="preserve"> is 30 euros.',
            ),
            "word/footnotes.xml": (
                "",
                f'<w:footnotes {space}><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t xml:space='
                '"preserve"> For members it is 20 euros.</w:t></w:r></w:p></w:footnote></w:footnotes>',
            ),
            "[Content_Types].xml": (
                "</Types>",
                f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>',
            ),
            "word/_rels/document.xml.rels": (
                "</Relationships>",
                f'<Relationship Id="rId99" Type="{link}" Target="footnotes.xml"/></Relationships>',
            ),
        },
    )
    assert quotes("a.docx", data) == [FEE, NOTE]


def test_a_reference_behind_a_full_stop_belongs_to_the_sentence_before_it() -> None:
    """Else the note would be one on the next sentence."""
    found = units("a.md", f"The fee is 30 euros.[^1] The hall is open.\n\n{NOTE}\n")
    assert [unit.body for unit in found] == ["The fee is 30 euros.[^1]", "The hall is open.", NOTE]
    assert found[-1].lead == 0
