"""Values in sentences, and which document a file is: its entity, version, period and status."""

import pytest

from discorag.conflicts.identity import identify_document
from discorag.conflicts.values import ValueKind, find_values


@pytest.mark.parametrize(
    ("sentence", "kind", "text"),
    [
        ("Payment is due within 180 days of receipt.", ValueKind.DURATION, "180 days"),
        ("It took twenty-four hours.", ValueKind.DURATION, "twenty-four hours"),
        ("The term is thirty (30) days.", ValueKind.DURATION, "thirty (30) days"),
        ("The fee is $5,000 a year.", ValueKind.MONEY, "$5,000"),
        ("Revenue rose by 12 percent.", ValueKind.PERCENT, "12 percent"),
        ("The meeting is on May 4.", ValueKind.DATE, "May 4"),
        ("It opened on 3 March 2022.", ValueKind.DATE, "3 March 2022"),
        ("It was built in the 1990s.", ValueKind.DATE, "1990s"),
        ("The timeout is 2000s now.", ValueKind.DURATION, "2000s"),
        ("It needs Python 3.8 or newer.", ValueKind.VERSION, "3.8"),
        ("It needs Python3.8 or newer.", ValueKind.VERSION, "3.8"),
        ("It is under version 2 of the licence.", ValueKind.VERSION, "2"),
        ("The option defaults to ``False``.", ValueKind.LITERAL, "False"),
        ("A dose has 400 mg of it.", ValueKind.QUANTITY, "400 mg"),
        ("A dose has 5 \u00b5g of it.", ValueKind.QUANTITY, "5 \u00b5g"),  # the micro sign; case-folded, it is a mu
        ("It fell to -5 degrees.", ValueKind.QUANTITY, "-5 degrees"),
        ("It has 5M users.", ValueKind.COUNT, "5M"),
        ("It has one million users.", ValueKind.COUNT, "one million"),
    ],
)
def test_finds_values(sentence: str, kind: ValueKind, text: str) -> None:
    (value,) = find_values(sentence)
    assert (value.kind, value.text) == (kind, text)
    assert sentence[value.span.start : value.span.end] == text


@pytest.mark.parametrize(
    "sentence",
    [
        "You may do so in a bar.",
        "One of us wrote it.",
        "See Section 34.16 for details.",
        "It ends under sections 8.1, 8.2 or 8.3 above, at line 71.",
        "10.15 Securities Purchase Agreement between the parties",
        "97.1.12 part: fell off the end",
        "See the bug page[3] and dpkg(1), as is said elsewhere^4. [72]",
        "It uses 5G everywhere.",
        "It listens to 192.168.0.10 and to all of 192.168.1.",
        "It rose by 3,5 % then.",
    ],
)
def test_finds_no_values(sentence: str) -> None:
    assert not find_values(sentence)


@pytest.mark.parametrize(
    ("one", "other", "excludes"),
    [
        ("90 days", "three months", False),
        ("two weeks", "10 days", True),
        ("24 hours", "one day", False),
        ("1.5 km", "1500 m", False),
        ("45.7 years", "46 years", False),
        ("about 100 days", "105 days", False),
        ("5 May", "5 May 2023", False),
        ("5 May", "6 May 2023", True),
        ("Python 3.8", "Python 3.8.1", False),
        ("$5,000", "$6,500", True),
        ("$5,000", "5,000 euros", False),
        ("1 month", "30 days", False),
        ("one year", "six months", True),
        ("1 GB", "512 MB", True),
        ("2 %", "2.5 %", True),
        ("€5m", "€5 million", False),
        ("-5 degrees", "5 degrees", True),
        ("the 1990s", "1995", False),
        ("the 1990s", "2001", True),
    ],
)
def test_values_exclude_each_other(one: str, other: str, excludes: bool) -> None:
    (a,), (b,) = find_values(f"It was {one} then."), find_values(f"It was {other} then.")
    assert a.excludes(b) is b.excludes(a) is excludes


def test_identity_from_front_matter_path_and_cover() -> None:
    given = identify_document("a/report.md", "Report", "", {"entity": "Acme", "period": "2022"})
    cover = identify_document(
        "10k.txt", "10-K", "For the fiscal year ended December 31, 2022\n\nACME CORP\n(Exact name of registrant", {}
    )
    path = identify_document("docs/tool-1.2.3/usage.rst", "Usage", "", {})
    draft = identify_document("plan-draft.md", "Plan", "", {"version": "v2.1"})
    about_status = identify_document("deprecated-features.md", "Deprecated features", "", {})
    assert str(given) == "Acme, 2022"
    assert (cover.entity, cover.period) == ("ACME CORP", "December 31, 2022")
    assert (path.version, draft.version, draft.status) == ("1.2.3", "2.1", "draft")
    assert about_status.status == ""


@pytest.mark.parametrize(
    ("title", "version"),
    [
        ("Guide v5", "5"),
        ("Guide v5.4.", "5.4"),
        ("5.4.0", "5.4.0"),
        ("celery-5.4.0", "5.4.0"),
        ("3. Requirements", ""),
        ("Growth of 3.5% a year", ""),
        ("Guide 1.2rc1", ""),
    ],
)
def test_a_number_of_a_section_or_a_share_in_a_title_is_not_a_version(title: str, version: str) -> None:
    assert identify_document("guide.md", title, "", {}).version == version
