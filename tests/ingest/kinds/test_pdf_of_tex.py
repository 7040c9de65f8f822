"""A PDF of TeX draws accents apart from their letters, signs that it does not name, and hyphens of two kinds."""

from pathlib import Path

import pytest

from tests.ingest.kinds.test_pdf import line, page, read
from tests.ingest.pdfs import raw_pdf


def _signs(content: str, font: str, folder: Path) -> str:
    """The text of a page whose font says only its name."""
    data = raw_pdf(content, 600, 800).replace(b"/BaseFont /Helvetica", f"/BaseFont /{font}".ljust(20).encode())
    return read(data, folder).text


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        ([(60, "Kr"), (70.67, "\\250"), (70.67, "amer")], "Krämer"),
        ([(60, "fur Erlangen-N"), (64.67, "\\250"), (138.02, "urnberg")], "für Erlangen-Nurnberg"),
        ([(60, "Fran"), (80.01, "c"), (81.34, "\\270"), (86.01, "ais")], "Français"),
        ([(60, "the `root` user")], "the `root` user"),
    ],
    ids=["before its letter", "behind a later word", "below its letter", "beside letters"],
)
def test_an_accent_and_the_letter_below_it_are_one_character(
    drawn: list[tuple[float, str]], said: str, tmp_path: Path
) -> None:
    """It belongs to the letter that it is drawn over, wherever the file has it."""
    assert page("".join(line(x, 700, text) for x, text in drawn), tmp_path).text == said


@pytest.mark.parametrize(
    ("font", "drawn", "said"),
    [("CMSY10", "V0 8X 2", "V′ ∀X ∈"), ("CMEX10", "P X", "∑ ∑"), ("CMR10", "V0 8X 2", "V0 8X 2")],
)
def test_a_sign_of_tex_is_not_the_digit_at_its_place_in_the_font(
    font: str, drawn: str, said: str, tmp_path: Path
) -> None:
    """A prime is no zero."""
    assert _signs(line(60, 700, drawn), font, tmp_path) == said


def test_a_sign_that_is_struck_through_is_its_negation(tmp_path: Path) -> None:
    """TeX draws "is not equal" as a stroke over "is equal"."""
    assert _signs(line(60, 700, "6") + line(60, 700, "="), "CMSY10", tmp_path) == "≠"


@pytest.mark.parametrize(
    ("elsewhere", "said"),
    [
        ("The root may not be non empty.", "non-root"),
        ("A nonroot user is not a root, non sequitur.", "nonroot"),
        ("A non-root user has no root.", "non-root"),
        ("There is no root.", "nonroot"),
    ],
    ids=["both halves are words", "the whole is a word", "written so", "one half is no word"],
)
def test_a_hyphen_at_the_end_of_a_line_stays_if_the_document_speaks_for_it(
    elsewhere: str, said: str, tmp_path: Path
) -> None:
    """A PDF does not say whether a hyphen only splits the word."""
    lines = [elsewhere, "Files that belong to every single non-", "root user of this system are here."]
    text = page("".join(line(60, 700 - 14 * i, text) for i, text in enumerate(lines)), tmp_path).text
    assert f"every single {said} user" in text
