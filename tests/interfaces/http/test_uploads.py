"""POST /ingest: what is accepted is on disk, and what is refused leaves nothing."""

import io
import os
import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from hypothesis import example, given
from hypothesis import strategies as st

from discorag.schema.document import Scope
from discorag.schema.errors import InputError, StoreError
from interfaces.http.jobs import Uploads
from tests.ingest.pdfs import raw_pdf
from tests.interfaces.http.conftest import Address, Served
from tests.interfaces.http.parts import Apps, ended, service_of, upload

PLAIN = "The Moon pulls the sea. Tides rise."


def list_files(uploads: Path) -> list[str]:
    """Names of all uploaded files, staged ones included."""
    return sorted(p.name for p in (uploads / "files").rglob("*") if p.is_file())


def test_what_is_accepted_is_on_disk_with_a_record_of_its_job(client: TestClient, apps: Apps, uploads: Path) -> None:
    reply = upload(client, {"a.txt": PLAIN, "b.txt": PLAIN}, corpus="kept")
    assert reply.status_code == 202
    job = reply.json()["job"]
    assert [(f["name"], f["status"]) for f in job["files"]] == [("a.txt", None), ("b.txt", None)]
    assert list_files(uploads) == ["a.txt", "b.txt"]
    assert service_of(client).uploads.path(apps.scope(corpus="kept"), "a.txt").read_text() == PLAIN
    assert service_of(client).table.body("default", job["id"])
    assert ended(client, job["id"])["failed"] == 0


def test_a_file_and_its_folders_are_synced_before_it_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        fsync(handle)
        steps.append(Path(os.readlink(f"/proc/self/fd/{handle}")).suffix or "folder")

    def replaced(old: Path, new: Path) -> None:
        replace(old, new)
        steps.append("replace")

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    Uploads(tmp_path / "uploads").stage(Scope(), {"a.txt": io.BytesIO(b"x")}).publish()
    assert steps == [".part", "folder", "folder", "folder", "replace", "folder"]


def test_the_pdf_of_a_document_is_served_as_long_as_it_is_the_file_that_was_read(
    client: TestClient, apps: Apps, uploads: Path
) -> None:
    pdf = raw_pdf("BT /F 12 Tf 20 50 Td (The Moon pulls the sea.) Tj ET", 200, 100)
    job = upload(client, {"moon.pdf": pdf, "moon.txt": PLAIN}, corpus="files").json()["job"]
    ended(client, job["id"])
    found = client.get("/documents", params={"corpus": "files"}).json()["documents"]
    ids, sizes = {d["name"]: d["doc_id"] for d in found}, {d["name"]: d["size"] for d in found}
    assert sizes == {"moon.pdf": len(pdf), "moon.txt": len(PLAIN)}

    def file(name: str, corpus: str = "files") -> Any:
        return client.get(f"/documents/{ids[name]}/file", params={"corpus": corpus})

    served = file("moon.pdf")
    assert served.content == pdf
    assert (served.headers["content-type"], served.headers["x-content-type-options"]) == ("application/pdf", "nosniff")
    assert (file("moon.txt").status_code, file("moon.pdf", corpus="another").status_code) == (404, 404)
    path = Uploads(uploads).path(apps.scope(corpus="files"), "moon.pdf")
    for change, said in ((lambda: path.write_bytes(pdf + b" "), "has changed"), (path.unlink, "is not where")):
        change()
        gone = file("moon.pdf")
        assert gone.status_code == 404
        assert f"moon.pdf {said}" in gone.json()["error"]["message"]


NOT_PLAIN = ["../x.txt", "/etc/x.txt", "a/b.txt", "..", ".hidden.txt", "x" * 300 + ".txt", "a\\b.txt", "a\x7fb.txt"]
UNKNOWN = ["a.exe", "noending", "a.txt.zip"]


def test_a_name_that_is_not_plain_or_of_no_known_format_is_refused_before_anything_is_kept(
    client: TestClient, uploads: Path
) -> None:
    found = {name: upload(client, {"good.txt": PLAIN, name: PLAIN}, corpus="names") for name in NOT_PLAIN + UNKNOWN}
    assert {n: r.status_code for n, r in found.items()} == dict.fromkeys(NOT_PLAIN, 422) | dict.fromkeys(UNKNOWN, 415)
    assert {found[name].json()["error"]["type"] for name in UNKNOWN} == {"UnknownFormatError"}
    assert list_files(uploads) == []


@given(st.text())
@example("a\nb")  # a client would mend these
@example("a\x00b")
@example("\ud800")
@example("a\u202e")
@example("x" * 197)
def test_a_name_that_is_accepted_is_printable_and_lies_in_the_folder_of_its_scope(name: str) -> None:
    home = Path("/uploads")
    try:
        path = Uploads(home).path(Scope(), name + ".txt")
    except InputError:
        return
    assert path.name.isprintable()
    assert len(path.name.encode()) <= 200
    assert path.resolve() == path
    assert path.parent.parent == home / "files"
    assert path.name == name + ".txt"


def test_files_of_scopes_whose_names_run_together_lie_apart(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    assert uploads.path(Scope(tenant="ab", corpus="c"), "x.txt") != uploads.path(
        Scope(tenant="a", corpus="bc"), "x.txt"
    )


def test_a_request_without_files_or_with_two_of_one_name_is_refused(client: TestClient, uploads: Path) -> None:
    parts = [("files", (name, text)) for name, text in (("a.txt", "1."), ("b.txt", "2."), ("a.txt", "3."))]
    reply = client.post("/ingest", files=parts, data={"corpus": "same"})
    assert (reply.status_code, reply.json()["error"]["type"]) == (422, "InputError")
    assert "'a.txt'" in reply.json()["error"]["message"]
    assert list_files(uploads) == []
    assert client.post("/ingest", data={"corpus": "c"}).status_code == 422
    assert client.post("/ingest", content=b"--x", headers={"Content-Type": "multipart/form-data"}).status_code == 400
    assert client.post("/ingest", files=[("files", ("", b"x"))]).status_code == 422


@pytest.mark.parametrize("declared", [True, False], ids=["with Content-Length", "in chunks"])
def test_an_upload_beyond_the_limit_is_refused_and_nothing_is_kept(
    listening: Address, uploads: Path, declared: bool
) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    body = head + b"x" * 30_000 + b"\r\n--x--\r\n"
    content: Any = body if declared else iter([body[:15_000], body[15_000:]])
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    url = listening(upload_mb=0.02)
    reply = httpx.post(f"{url}/ingest", content=content, headers=headers)
    assert reply.status_code == 413
    assert "20000 bytes" in reply.json()["error"]["message"]
    assert list_files(uploads) == []


@contextmanager
def files_of_at_most(size: int) -> Generator[None]:
    """A disk that is full, as a process sees it: writes beyond ``size`` fail with an OSError."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_ends_in_507_and_keeps_nothing_of_the_request(
    client: TestClient, apps: Apps, uploads: Path
) -> None:
    first = upload(client, {"a.txt": PLAIN}, corpus="full")
    assert ended(client, first.json()["job"]["id"])["failed"] == 0
    with files_of_at_most(200_000):
        reply = upload(client, {"a.txt": "changed", "b.txt": "x" * 400_000}, corpus="full")
    assert (reply.status_code, reply.json()["error"]["type"]) == (507, "StoreFullError")
    assert list_files(uploads) == ["a.txt"]
    assert service_of(client).uploads.path(apps.scope(corpus="full"), "a.txt").read_text() == PLAIN
    again = upload(client, {"b.txt": PLAIN}, corpus="full")
    assert ended(client, again.json()["job"]["id"])["failed"] == 0


def test_what_a_killed_server_had_staged_or_was_receiving_is_removed_at_the_next_start(
    served: Served, uploads: Path, tmp_path: Path
) -> None:
    with (tmp_path / "source").open("w+b") as source:
        staged = Uploads(uploads).stage(Scope(), {"a.txt": source})
    assert len(list_files(uploads)) == 1
    left = Uploads(uploads).spool / "tmp1"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"x")
    served()
    assert list_files(uploads) == []
    assert not left.exists()
    with pytest.raises(StoreError):
        staged.publish()
