"""Poison is tried twice, then refused, also after a restart; asked for, it is tried again."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from discorag.ingest.attempts import Attempts, attempts_file
from discorag.ingest.reader import Reader
from discorag.settings import ReadingSettings, StoreSettings
from discorag.text.loaders import Source
from discorag.types.errors import ConversionLimitError, DecodingError, RefusedFileError, StoreError
from tests.text.pdfs import endless_pdf

SLOW = "it takes more than 60 s"


def refused(attempts: Attempts, file: str = "file") -> bool:
    try:
        attempts.begin(file)
    except RefusedFileError:
        return True
    return False


def test_two_failed_attempts_are_the_last_ones_also_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        attempts = Attempts(tmp_path / "new" / "attempts.sqlite")
        attempts.begin("file")
        attempts.failed("file", SLOW)
        attempts.close()
    attempts = Attempts(tmp_path / "new" / "attempts.sqlite")
    with pytest.raises(RefusedFileError, match=rf"Refused after 2 attempts: {SLOW}\. .*--refresh"):
        attempts.begin("file")
    assert not refused(attempts, "another file")
    attempts.begin("file", again=True)
    attempts.done("file")
    assert not refused(attempts)


def test_attempts_that_took_the_whole_process_with_them_count_half(tmp_path: Path) -> None:
    for _ in range(4):
        attempts = Attempts(tmp_path / "attempts.sqlite")
        attempts.begin("file")
        attempts.close()
    with pytest.raises(RefusedFileError, match="after 4 attempts: the process ended while it was converted"):
        Attempts(tmp_path / "attempts.sqlite").begin("file")


def test_attempts_that_were_cancelled_or_went_well_say_nothing_against_a_file() -> None:
    attempts = Attempts(None)
    for ended in (attempts.cancelled, attempts.done) * 5:
        attempts.begin("file")
        ended("file")
    attempts.begin("file")
    attempts.failed("file", SLOW)
    for _ in range(5):
        attempts.begin("file")
        attempts.cancelled("file")
    attempts.begin("file")
    attempts.failed("file", SLOW)
    assert refused(attempts)


def test_a_damaged_database_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "attempts.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"attempts\.sqlite cannot be used.*Remove it"):
        Attempts(tmp_path / "attempts.sqlite").begin("file")


def test_they_are_kept_where_the_store_is() -> None:
    store = Path("data/store")
    assert attempts_file(StoreSettings(path=store)) == store / "attempts.sqlite"
    assert attempts_file(StoreSettings(kind="memory", path=store)) is None
    servers = [attempts_file(StoreSettings(path=store, url="http://q:6333", prefix=prefix)) for prefix in ("", "x")]
    assert {file.parent.parent for file in servers if file} == {Path("data/servers")}
    assert len(set(servers)) == 2


@pytest.fixture
def poison(tmp_path: Path) -> Source:
    path = tmp_path / "poison.pdf"
    path.write_bytes(endless_pdf())
    return Source(path, "poison.pdf")


async def test_poison_is_refused_at_once_after_two_attempts_until_it_is_asked_for_or_limits_change(
    poison: Source, tmp_path: Path
) -> None:
    file = tmp_path / "attempts.sqlite"
    reading = ReadingSettings(convert_seconds=0.2)
    for _ in range(2):
        with Reader(reading, Attempts(file)) as reader, pytest.raises(ConversionLimitError):
            await reader.read(poison)
    copy = Source(tmp_path / "copy.pdf", "copy.pdf")
    copy.path.write_bytes(poison.path.read_bytes())
    with Reader(reading, Attempts(file)) as reader:
        with pytest.raises(RefusedFileError, match=r"copy\.pdf: Refused after 2 attempts: it takes more than 0\.2 s"):
            await reader.read(copy)
        with pytest.raises(ConversionLimitError):
            await reader.read(copy, again=True)
    with (
        Reader(reading.model_copy(update={"convert_seconds": 0.3}), Attempts(file)) as reader,
        pytest.raises(ConversionLimitError, match=r"0\.3 s"),
    ):
        await reader.read(poison)


async def test_an_attempt_is_written_down_before_it_is_made_and_struck_out_when_it_is_cancelled(
    poison: Source, tmp_path: Path
) -> None:
    file = tmp_path / "attempts.sqlite"

    def rows() -> list[tuple[int, int]]:
        with sqlite3.connect(file) as database:
            return database.execute("SELECT failed, cut_off FROM attempts").fetchall()

    with Reader(ReadingSettings(), Attempts(file)) as reader:
        task = asyncio.create_task(reader.read(poison))
        while not file.exists() or not rows():
            await asyncio.sleep(0.02)
        assert rows() == [(0, 1)]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert rows() == []


async def test_a_file_that_is_merely_broken_is_told_what_is_wrong_with_it_every_time(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"no PDF")
    with Reader(ReadingSettings(), Attempts(None)) as reader:
        for _ in range(4):
            with pytest.raises(DecodingError):
                await reader.read(Source(path, "a.pdf"))


async def test_text_stays_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    (tmp_path / "a.md").write_text("---\nyear: 2020\n---\n# Tides\n\nThey rise.\n")
    with Reader(ReadingSettings(), Attempts(None)) as reader:
        document = await reader.read(Source(tmp_path / "a.md", "a.md"))
    assert (document.title, document.metadata) == ("Tides", {"year": "2020"})
