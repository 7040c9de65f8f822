import codecs
import os
import tracemalloc
from pathlib import Path

import pytest

from discorag.ingest.loaders import SUFFIXES, converter_version, load, reading_note
from discorag.ingest.survey import Survey, survey
from discorag.schema.document import Document, Markup
from discorag.schema.errors import (
    DecodingError,
    InputError,
    MissingPathError,
    UnknownFormatError,
)

LIMIT = 1_000_000


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, *, max_bytes: int = LIMIT) -> Document:
    return load(path, max_bytes=max_bytes)


def names(found: Survey, folder: Path) -> list[str]:
    return [Path(file).relative_to(folder.resolve()).as_posix() for file in found.files]


def reasons(found: Survey) -> dict[str, str]:
    return {Path(o.uri).name: o.note for o in found.aside}


def test_a_folder_is_searched_recursively_in_sorted_order_and_what_is_not_read_is_listed(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.md", "a/c.MARKDOWN", "a/b/x.text", ".hidden.txt", ".git/config.txt", "a/.cache/b.md"):
        write(tmp_path, name, name)
    write(tmp_path, "slides.ppt", b"PK")
    write(tmp_path, "LICENSE", "text")
    os.mkfifo(tmp_path / "pipe.txt")
    found = survey(str(tmp_path))
    assert names(found, tmp_path) == ["a/b/x.text", "a/c.MARKDOWN", "a/z.md", "b.txt"]
    assert reasons(found) == {
        "LICENSE": "unknown format without suffix; if it is text, name it .txt",
        "pipe.txt": "not a regular file",
        "slides.ppt": "unknown format .ppt; save it as .pptx",
    }


def test_links_are_followed_to_files_inside_the_folder_only(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "in-secret"
    write(inside, "..data/kept.txt", "text")
    write(outside, "secret.txt", "text")
    (inside / "kept.txt").symlink_to(inside / "..data" / "kept.txt")
    for name, target in {
        "secret.txt": outside / "secret.txt",
        "passwd.txt": Path("/etc/passwd"),
        "self.txt": inside / "self.txt",
        "broken.txt": tmp_path / "nowhere",
        "away": outside,
        "loop": inside,
    }.items():
        (inside / name).symlink_to(target)
    found = survey(str(inside))
    assert names(found, inside) == ["..data/kept.txt"]
    assert reasons(found) == {
        "passwd.txt": "link out of the folder",
        "secret.txt": "link out of the folder",
        "self.txt": "not a regular file",
        "broken.txt": "not a regular file",
        "away": "link to a folder",
        "loop": "link to a folder",
    }


def test_a_link_that_the_user_names_is_followed(tmp_path: Path) -> None:
    target = write(tmp_path, "out/a.txt", "text")
    (tmp_path / "a.txt").symlink_to(target)
    (tmp_path / "folder").symlink_to(target.parent)
    for name in ("a.txt", "folder"):
        assert survey(str(tmp_path / name)).files == (str(target.resolve()),)


def test_where_there_is_nothing_to_read_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match=r"nowhere"):
        survey(str(tmp_path / "nowhere"))
    slides = write(tmp_path, "slides.ppt", b"PK")
    with pytest.raises(UnknownFormatError, match=r"slides\.ppt.*save it as \.pptx.*\.txt, .*\.md, .*\.pdf, \.csv"):
        survey(str(slides))
    with pytest.raises(InputError, match=r"holds no file to read.*\.md"):
        survey(str(tmp_path))
    with pytest.raises(MissingPathError):
        read(tmp_path / "gone.txt")


def test_a_name_that_is_not_utf8_is_reported_even_if_there_is_no_other_file(tmp_path: Path) -> None:
    path = write(tmp_path, os.fsdecode(b"caf\xe9.txt"), "text")
    assert reasons(survey(str(tmp_path))) == {r"caf\xe9.txt": "Its name is not UTF-8. Rename it."}
    with pytest.raises(InputError, match=r"caf\\xe9\.txt has a name that is not UTF-8"):
        survey(str(path))


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (codecs.BOM_UTF8 + b"caf\xe9 noir", DecodingError, r"a\.md is not UTF-8.*0xe9 at byte 6.*iconv"),
        ("“Café” à Nîmes".encode()[:-3] + b"\xc3 s", DecodingError, "is not UTF-8"),
        (b"a\xed\xa0\x80", DecodingError, "byte 1"),
        ("text".encode("utf-16-le"), DecodingError, r"a\.md is not text: a NUL byte at byte \d"),
        (b"PK\x03\x04\x00\x00", DecodingError, r"a\.md is not text: a NUL byte at byte \d"),
        (b" \n\t\r\n", InputError, r"a\.md"),
        (codecs.BOM_UTF8, InputError, r"a\.md"),
        ("\u3000\n".encode(), InputError, r"a\.md"),
        (b"---\ntitle: x\n---\n\n", InputError, r"a\.md"),
    ],
)
def test_what_is_not_text_or_holds_none_is_refused(
    tmp_path: Path, content: bytes, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        read(write(tmp_path, "a.md", content))


def test_byte_order_mark_is_dropped_and_line_ends_become_line_feeds(tmp_path: Path) -> None:
    document = read(write(tmp_path, "notes.txt", codecs.BOM_UTF8 + "a\r\nb\rc\n\r\né 你".encode()))
    assert document.text == "a\nb\nc\n\né 你"
    assert (document.title, document.markup) == ("notes", Markup.NONE)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv"])
def test_western_text_is_read_and_the_document_says_so(tmp_path: Path, name: str) -> None:
    said = "“Caf\u00e9 noir” à Nîmes"
    document = read(write(tmp_path, name, f'"{said}"'.encode("cp1252")))
    assert said in document.text
    assert document.metadata == {"encoding": "windows-1252"}
    assert "windows-1252" in reading_note(document)
    told = read(write(tmp_path, name, f'"{said}"'))
    assert (told.metadata, reading_note(told)) == ({}, "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_says_the_encoding(tmp_path: Path, encoding: str) -> None:
    document = read(write(tmp_path, "a.txt", "é 你\r\nb".encode(encoding)))
    assert (document.text, document.metadata) == ("é 你\nb", {})


def test_large_file_is_refused_by_its_size_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"50\.0 MB; the limit is 20\.0 MB.*MAX_DOCUMENT_MB"):
        read(path, max_bytes=20_000_000)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["a.txt", "a.pdf"])
def test_a_pipe_in_the_place_of_a_file_is_refused_instead_of_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="not a regular file"):
        read(tmp_path / name)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, fstat = write(tmp_path, "log.txt", "first line\n"), os.fstat

    def written_to_meanwhile(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        with path.open("a") as file:
            file.write("another line\n")
        return found

    monkeypatch.setattr(os, "fstat", written_to_meanwhile)
    with pytest.raises(InputError, match=r"log\.txt changed while it was read.*Ingest it again"):
        read(path)


def test_markdown_source_is_the_canonical_text_and_its_first_heading_the_title(tmp_path: Path) -> None:
    source = "```\n# not this\n```\n\n#\n\nThe *real* `title`\n=====\n\ntext\n"
    document = read(write(tmp_path, "a.md", source))
    assert document.text == source
    assert (document.title, document.markup) == ("The real title", Markup.INLINE)


@pytest.mark.parametrize(
    "text",
    ["# 1.1\n\nFixed.\n\n# 1.0\n\nFirst.\n", "The tide rises.\n\n# Notes\n\nNone.\n", "## Part\n\nIt.\n\n# Other\n"],
    ids=["one of several", "below the text", "below another"],
)
def test_a_heading_that_does_not_stand_above_the_whole_is_no_title(tmp_path: Path, text: str) -> None:
    assert read(write(tmp_path, "notes.md", text)).title == "notes"


def test_front_matter_becomes_metadata_and_leaves_the_text(tmp_path: Path) -> None:
    header = "year: 2020\nday: 2020-01-02\ndraft: true\nauthor: Ada\ntags: [a, b]\nnone:\nnested: {a: 1}\n"
    document = read(write(tmp_path, "a.md", f"---\r\n{header}---\r\n\r\n    code\n\ntext\n"))
    assert document.text == "    code\n\ntext\n"
    assert document.metadata == {
        "year": 2020,
        "day": "2020-01-02",
        "draft": True,
        "author": "Ada",
        "tags": ["a", "b"],
        "none": "",
    }


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: [unclosed\n---\ntext\n",
        "---\nJust prose.\n---\ntext\n",
        "---\nno end\n",
        "---\n" + "[" * 5000 + "\n---\ntext\n",
        "---\na: " + "x" * 70_000 + "\n---\ntext\n",
    ],
    ids=["bad yaml", "no mapping", "no end", "too deep", "too long"],
)
def test_broken_front_matter_stays_text(tmp_path: Path, text: str) -> None:
    document = read(write(tmp_path, "a.md", text))
    assert document.text == text
    assert document.metadata == {}


def test_aliases_cannot_blow_up_metadata_and_front_matter_of_plain_text_is_text(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    assert read(write(tmp_path, "a.md", f"---\n{bomb}---\ntext")).metadata == {"a0": ["x", "x"]}
    assert read(write(tmp_path, "a.txt", "---\na: b\n---\ntext")).text == "---\na: b\n---\ntext"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_of_any_format_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match=rf"a\{suffix}"):
        read(write(tmp_path, f"a{suffix}", b""))


def test_a_converter_s_version_names_the_libraries_of_that_format_only() -> None:
    assert converter_version(".md") == converter_version(".txt") == "4"
    assert "pdfium" in converter_version(".PDF")
    assert "mammoth" in converter_version(".docx")
    assert converter_version(".csv") != converter_version(".txt")
    assert "pdf" not in converter_version(".html") + converter_version(".docx")
