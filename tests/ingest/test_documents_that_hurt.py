"""Documents that would cost a careless reader minutes: time in proportion to their size, or a refusal."""

from contextlib import closing
from pathlib import Path
from time import process_time

import pytest

from discorag.config import ReadingSettings
from discorag.ingest.convert.formats import convert
from discorag.ingest.reader import Reader
from discorag.ingest.segment.blocks import title_of
from discorag.ingest.segment.headings import build_hierarchy
from discorag.schema.document import Document, Markup
from discorag.schema.errors import ConversionError, InputError

TEXTS = {
    "rows of a table": "| a | 1 |\n" * 10_000,
    "lines of a paragraph": "a long line of a paragraph\n" * 10_000,
    "gaps in a line": "a  " * 60_000,
    "one line": "a " * 500_000,
    "one word": "a" * 1_000_000,
    "combining marks": "a" + "\u0301" * 500_000,
    "brackets": "[" * 100_000,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("markup", [Markup.NONE, Markup.INLINE])
def test_structure_takes_time_in_proportion(name: str, markup: Markup) -> None:
    start = process_time()
    build_hierarchy(Document(uri=name, title=name, text=TEXTS[name], markup=markup))
    assert process_time() - start < 10


def test_a_wide_table_with_short_rows_is_not_filled() -> None:
    data = ("a," * 20_000 + "b\n" + "1,2\n" * 20_000).encode()
    assert len(convert(data, Path("wide.csv"), max_bytes=1_000_000).text) < 10 * len(data)


def test_too_many_headings_are_refused_before_all_are_read_and_none_is_the_title() -> None:
    text = "# Heading\n\n" * 3000
    assert title_of(text) == ""
    with pytest.raises(InputError, match=r"more than 10 sentences\. Split the file"):
        build_hierarchy(Document(uri="u", title="t", text=text, markup=Markup.INLINE), 10)


async def test_what_takes_more_than_its_size_explains_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discorag.ingest.reader._SECONDS", 1)
    monkeypatch.setattr("discorag.ingest.reader._SECONDS_PER_MB", 1)
    says = r"more than [\d.]+ s of processor time\. Save it again, in a simpler form or in parts\.$"
    with closing(Reader(ReadingSettings())) as reader, pytest.raises(ConversionError, match=says):
        await reader.convert(b"==== ====\n" + b"ab   cd\n" * 20_000 + b"==== ====\n", Path("page.rst"))
