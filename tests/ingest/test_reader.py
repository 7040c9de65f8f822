"""Poison is tried twice, then refused, also after a restart; asked for, it is tried again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from discorag.config import ReadingSettings
from discorag.ingest.loaders import Source
from discorag.ingest.reader import Reader
from discorag.schema.errors import ConversionLimitError, DecodingError, RefusedFileError
from discorag.store.database import Database
from discorag.store.sqlite import SqliteFile
from discorag.store.uploads import Conversions
from tests.ingest.pdfs import endless_pdf


@pytest.fixture
def conversions(tmp_path: Path) -> Iterator[Conversions]:
    database = Database(SqliteFile(tmp_path / "documents.sqlite"), ("test", 8))
    yield Conversions(database)
    database.close()


async def test_poison_is_refused_at_once_after_two_failures_until_it_is_asked_for_or_limits_change(
    conversions: Conversions, tmp_path: Path
) -> None:
    poison, copy = Source(tmp_path / "poison.pdf", "poison.pdf"), Source(tmp_path / "copy.pdf", "copy.pdf")
    for source in (poison, copy):
        source.path.write_bytes(endless_pdf())
    reading = ReadingSettings(convert_seconds=0.2)
    for _ in range(2):
        with Reader(reading, conversions) as reader, pytest.raises(ConversionLimitError):
            await reader.read(poison)
    with Reader(reading, conversions) as reader:
        with pytest.raises(RefusedFileError, match=r"copy\.pdf: Refused after 2 attempts: it takes more than 0\.2 s"):
            await reader.read(copy)
        with pytest.raises(ConversionLimitError):
            await reader.read(copy, again=True)
    longer = reading.model_copy(update={"convert_seconds": 0.3})
    with Reader(longer, conversions) as reader, pytest.raises(ConversionLimitError, match=r"0\.3 s"):
        await reader.read(poison)


async def test_a_file_that_is_merely_broken_is_told_what_is_wrong_with_it_every_time(
    conversions: Conversions, tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"no PDF")
    with Reader(ReadingSettings(), conversions) as reader:
        for _ in range(4):
            with pytest.raises(DecodingError):
                await reader.read(Source(path, "a.pdf"))


async def test_text_stays_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    (tmp_path / "a.md").write_text("---\nyear: 2020\n---\n# Tides\n\nThey rise.\n")
    with Reader(ReadingSettings()) as reader:
        document = await reader.read(Source(tmp_path / "a.md", "a.md"))
    assert (document.title, document.metadata) == ("Tides", {"year": "2020"})
