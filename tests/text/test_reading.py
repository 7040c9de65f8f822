import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.text.reading import plain, reads, row_reads
from discorag.types.hierarchy import UnitKind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Tides** [rise](http://a.b/c_(d)) _twice_ a `day`.", "Tides rise twice a day."),
        ("![moon](m.png) The <b>moon</b> pulls<!-- why? -->.", "The moon pulls."),
        (
            "The \\emph{moon} pulls \\cite{n87}, as $F_{i} \\leq \\left(x\\right)$ says.",
            "The moon pulls, as F_i ≤ (x) says.",
        ),
        (
            "See `the guide <http://a.b/c>`__, :func:`run <x>` and `Retry`_ at 10:30.",
            "See the guide, run and Retry at 10:30.",
        ),
        ("The F$_1$ of others (see BIBREF3, BIBREF4) and ours (BIBREF5).", "The F1 of others (see) and ours."),
        ("It costs $5 here and $6 there.", "It costs $5 here and $6 there."),
        ("The re\u2010\nsult was well-\nknown .", "The result was well-known."),
        (
            "A term `` Tar '' , i.e. ``Pitch'', is n't ( 5 kg ) new ( ; old).",
            "A term “Tar” , i.e. “Pitch”, isn't (5 kg) new (old).",
        ),
        ("Use ``a`` or ''; both\u200b cost (;;).", "Use a or ''; both cost (;;)."),
        ("Call __init__ before arr[1] is 2**10.", "Call __init__ before arr[1] is 2**10."),
    ],
)
def test_markup_goes_and_what_means_something_stays(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("row", "header", "expected"),
    [
        ("| Ada | 170 | |", "| Name | Height | Note |", "Ada, Height: 170"),
        ("Revenue   $   2,018   ( 5 )  %", "2023   2022", "Revenue, 2023: $2,018; 2022: (5)%"),
        ("Revenue      2,018", "(in millions)     2023", "Revenue (in millions), 2023: 2,018"),
        ("Oslo,2020,697010", "city,year,people", "Oslo, year: 2020; people: 697010"),
        ("|收入|20|20|", "|项目|本期|本期|", "收入，本期：20"),
        ("-q     say nothing", "", "-q: say nothing"),
    ],
)
def test_a_row_is_read_with_its_headers(row: str, header: str, expected: str) -> None:
    assert row_reads(row, header) == expected


@given(st.text(st.sampled_from("a B.,[](){}|*_`$\\<>!#-\n1é的"), max_size=80), st.sampled_from(UnitKind))
def test_whatever_it_is_it_reads_as_one_line(text: str, kind: UnitKind) -> None:
    assert "\n" not in reads(text, kind, text)
