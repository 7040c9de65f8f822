"""Whatever a file does, its converter can be stopped, and nothing else is."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import docx
import pytest
from blockbuster import blockbuster_ctx

from discorag.config import ReadingSettings
from discorag.ingest.reader import Reader
from discorag.schema.errors import ConversionError, DecodingError, InputError
from tests.ingest.pdfs import endless_pdf

PAGE = b"<title>Tides</title><h1>Tides</h1><p>They rise twice a day.</p>"
HTML, PDF = Path("page.html"), Path("endless.pdf")


@pytest.fixture(scope="module")
def endless() -> bytes:
    return endless_pdf()


@pytest.fixture
def reader() -> Iterator[Reader]:
    with closing(Reader(ReadingSettings())) as opened:
        yield opened


def children(parent: int) -> set[int]:
    """The converters that a process has started and that live."""
    found = set[int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, ppid = stat.read_text().rpartition(")")[2].split()[:2]
            command = (stat.parent / "cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            continue
        if int(ppid) == parent and state != "Z" and b"ingest.worker" in command:
            found.add(int(stat.parent.name))
    return found


async def started(before: set[int]) -> int:
    while not (new := children(os.getpid()) - before):
        await asyncio.sleep(0.02)
    return new.pop()


async def at_work(process: int) -> None:
    """Wait until it has used some processor time beyond that of its imports."""
    while sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13])) < 60:
        await asyncio.sleep(0.02)


async def gone(process: int) -> None:
    while Path(f"/proc/{process}").exists() and b"worker" in Path(f"/proc/{process}/cmdline").read_bytes():
        await asyncio.sleep(0.02)


async def test_a_file_is_converted_as_in_this_process_by_a_child_that_is_used_again(reader: Reader) -> None:
    before = children(os.getpid())
    made = [await reader.convert(PAGE, HTML) for _ in range(5)]
    assert {(one.text, one.title) for one in made} == {("# Tides\n\nThey rise twice a day.", "Tides")}
    found = await reader.convert("Où;prix\nNîmes;1\nArles;2\n".encode("cp1252"), Path("a.csv"))
    assert (found.text.splitlines()[2], found.metadata) == ("| Nîmes | 1 |", {"encoding": "windows-1252"})
    assert len(children(os.getpid()) - before) == 1


@pytest.mark.parametrize(
    ("data", "path", "error", "says"),
    [
        (b"no PDF", PDF, DecodingError, r"endless\.pdf is damaged or not a PDF\. Open it"),
        (b"", HTML, InputError, r"page\.html is empty"),
        (b'a,"b', Path("a.csv"), DecodingError, r"a\.csv is not a valid CSV table: unexpected end of data"),
        (b"\xc4\xe0", HTML, DecodingError, r"page\.html is not text.*<meta charset>"),
    ],
)
async def test_what_is_wrong_with_a_file_is_said_as_in_this_process(
    reader: Reader, data: bytes, path: Path, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        await reader.convert(data, path)
    assert (await reader.convert(PAGE, HTML)).text


def swelling_docx() -> bytes:
    """A small file that swells to a library."""
    made = docx.Document()
    made.add_paragraph("tide " * 300_000)
    made.save(packed := BytesIO())
    assert len(packed.getvalue()) < 50_000
    return packed.getvalue()


@pytest.mark.parametrize(
    ("make", "path", "seconds", "says"),
    [
        (endless_pdf, PDF, 1, r"endless\.pdf.*more than 1 s of.*READING__CONVERT_SECONDS"),
        (lambda: b"tides " * 15_000_000, HTML, 60, r"page\.html.*more than 256 MB of memory"),
        (swelling_docx, Path("bomb.docx"), 60, r"bomb\.docx.*more than .* MB of text"),
    ],
    ids=["time", "memory", "text"],
)
async def test_a_file_that_takes_too_much_is_given_up_and_the_next_one_is_read(
    make: Callable[[], bytes], path: Path, seconds: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discorag.ingest.reader.MEMORY_MB", 256)
    with closing(Reader(ReadingSettings(convert_seconds=seconds))) as reader:
        with pytest.raises(ConversionError, match=says):
            await reader.convert(make(), path)
        assert (await reader.convert(PAGE, HTML)).text


async def test_a_child_that_dies_of_a_file_costs_that_file_only(reader: Reader, endless: bytes) -> None:
    before = children(os.getpid())
    task = asyncio.create_task(reader.convert(endless, PDF))
    await at_work(child := await started(before))
    os.kill(child, signal.SIGSEGV)
    with pytest.raises(ConversionError, match=r"endless\.pdf.*died of it \(SIGSEGV\)"):
        await task
    assert (await reader.convert(PAGE, HTML)).text


async def test_cancelling_kills_the_child_at_once(reader: Reader, endless: bytes) -> None:
    before = children(os.getpid())
    task = asyncio.create_task(reader.convert(endless, PDF))
    child = await started(before)
    await at_work(child)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert child not in children(os.getpid())


async def test_closing_stops_what_is_at_work(reader: Reader, endless: bytes) -> None:
    before = children(os.getpid())
    task = asyncio.create_task(reader.convert(endless, PDF))
    await started(before)
    reader.close()
    with pytest.raises(ConversionError, match="was stopped"):
        await task
    assert children(os.getpid()) <= before


def test_several_event_loops_share_the_children(reader: Reader) -> None:
    made = list[str]()

    def read() -> None:
        made.append(asyncio.run(reader.convert(PAGE, HTML)).text)

    for _ in range(2):
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(made) == 4


async def test_the_event_loop_is_not_blocked(reader: Reader) -> None:
    with blockbuster_ctx():
        assert (await reader.convert(PAGE, HTML)).text
        task = asyncio.create_task(reader.convert(endless_pdf(), PDF))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


SCRIPT = """
import asyncio, sys
from pathlib import Path
from discorag.config import ReadingSettings
from discorag.ingest.reader import Reader
print("once", flush=True)
reader = Reader(ReadingSettings())
print(asyncio.run(reader.convert(b"Tides rise.", Path("a.html"))).text, flush=True)
asyncio.run(reader.convert(Path(sys.argv[1]).read_bytes(), Path("b.pdf")))
"""


async def test_a_child_runs_nothing_of_the_user_s_and_dies_with_a_parent_that_is_killed(
    tmp_path: Path, endless: bytes
) -> None:
    script, pdf = tmp_path / "script.py", tmp_path / "endless.pdf"
    script.write_text(SCRIPT)
    pdf.write_bytes(endless)
    (tmp_path / "html.py").write_text("raise SystemExit('a module of the folder was imported')")
    command = [sys.executable, "-P", str(script), str(pdf)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert [parent.stdout.readline() for _ in range(2)] == ["once\n", "Tides rise.\n"]
        [child] = children(parent.pid)
        await at_work(child)
        parent.kill()
        await asyncio.wait_for(gone(child), 10)
        assert parent.stdout.read() == ""


def test_a_child_does_not_load_torch() -> None:
    heavy = "{'torch', 'transformers', 'langgraph', 'qdrant_client'}"
    code = f"import sys, discorag.ingest.worker; print({heavy} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


async def test_tables_of_html_in_markdown_are_read_in_a_child_with_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader
) -> None:
    (tmp_path / "a.md").write_text("# Tides\n\n<TABLE><tr><th>Port<th>Rise<tr><td>Ulm<td>2 m</TABLE>\n")
    assert "| Ulm | 2 m |" in (await reader.read(tmp_path / "a.md")).text
    reader.close()
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(ConversionError, match=r"a\.md cannot be converted"):
        await reader.read(tmp_path / "a.md")


async def test_text_stays_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    (tmp_path / "a.md").write_text("---\nyear: 2020\n---\n# Tides\n\nThey rise.\n")
    document = await reader.read(tmp_path / "a.md")
    assert (document.title, document.metadata) == ("Tides", {"year": 2020})
