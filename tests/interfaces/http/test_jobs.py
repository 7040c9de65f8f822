"""Ingest jobs: progress, failures of single files, turns, cancelling."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from discorag import DiscoRAG
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.schema.document import Scope, uri_of_upload
from discorag.schema.errors import NotFoundError, StoreFullError
from discorag.store.database import Database
from discorag.store.postgres import PostgresServer
from discorag.store.sqlite import SqliteFile
from discorag.store.uploads import JobTable
from interfaces.http.jobs import RETRY_S, Ingest, Job, Jobs, JobStatus
from tests.interfaces.http.conftest import Serve, Served
from tests.interfaces.http.parts import Apps, ended, service_of, upload

PLAIN = "The Moon pulls the sea. Tides rise."


def outcomes(progress: dict[str, Any]) -> dict[str, str | None]:
    return {f["name"]: f["status"] for f in progress["job"]["files"]}


def run(client: TestClient, files: dict[str, str | bytes], corpus: str) -> dict[str, Any]:
    return ended(client, upload(client, files, corpus=corpus).json()["job"]["id"])


def test_a_bad_file_fails_alone_with_its_reason_and_the_others_are_stored(client: TestClient, uploads: Path) -> None:
    files = {"bad.txt": "潮汐涨落".encode("gb2312"), "empty.txt": b" ", "no.pdf": b"%PDF-1.7 broken", "good.txt": PLAIN}
    progress = run(client, files, "mixed")
    assert (progress["settled"], progress["failed"], progress["total"]) == (4, 3, 4)
    assert progress["job"]["status"] == "failed"
    notes = {f["name"]: f["note"] for f in progress["job"]["files"]}
    assert {name for name, note in notes.items() if note} == {"bad.txt", "empty.txt", "no.pdf"}
    assert not any(str(uploads) in note for note in notes.values())
    listed = client.get("/documents", params={"corpus": "mixed"}).json()
    assert [d["name"] for d in listed["documents"]] == ["good.txt"]


def test_a_file_of_the_same_name_replaces_the_document(client: TestClient) -> None:
    assert outcomes(run(client, {"a.txt": PLAIN}, "same")) == {"a.txt": "added"}
    assert outcomes(run(client, {"a.txt": PLAIN}, "same")) == {"a.txt": "unchanged"}
    before = client.get("/documents", params={"corpus": "same"}).json()["documents"]
    assert outcomes(run(client, {"a.txt": "Bees dance."}, "same")) == {"a.txt": "replaced"}
    after = client.get("/documents", params={"corpus": "same"}).json()["documents"]
    assert [d["doc_id"] for d in before] == [d["doc_id"] for d in after]
    assert before[0]["content_hash"] != after[0]["content_hash"]
    shown = client.get(f"/trees/{after[0]['doc_id']}", params={"corpus": "same"}).json()
    assert [c["text"] for c in shown] == ["Bees dance."]


def test_a_job_and_the_documents_say_what_could_not_be_read(client: TestClient) -> None:
    progress = run(client, {"a.md": "Tides rise. ![](a.png) ![](b.png)", "b.txt": PLAIN}, "unread")
    assert progress["unread"] == "1 document has 2 images that were not read."
    assert [file["unread"] for file in progress["job"]["files"]] == [{"image": 2}, {}]
    listed = client.get("/documents", params={"corpus": "unread"}).json()["documents"]
    text = client.get(f"/documents/{listed[0]['doc_id']}/text", params={"corpus": "unread"}).json()
    assert [listed[0]["unread"], listed[1]["unread"], text["unread"]] == [{"image": 2}, {}, {"image": 2}]


FORMATS = {
    "text": ("text/plain", "N  1: The Moon pulls the sea."),
    "rs3": ("application/xml", "<rst>"),
    "json": ("application/json", '"splits"'),
}


def test_a_tree_comes_as_a_file_of_the_format_asked_for(client: TestClient) -> None:
    run(client, {"a.txt": PLAIN}, "drawn")
    (document,) = client.get("/documents", params={"corpus": "drawn"}).json()["documents"]
    path, where = f"/trees/{document['doc_id']}", {"corpus": "drawn", "chunk": 0}
    for name, (media_type, part) in FORMATS.items():
        reply = client.get(path, params={**where, "format": name})
        assert reply.headers["content-type"].split(";")[0] == media_type
        assert part in reply.text
    assert client.get(path, params={**where, "format": "rs3", "chunk": 9}).status_code == 404
    unknown = client.get(path, params={**where, "format": "pdf"})
    assert (unknown.status_code, "text, rs3, json" in unknown.text) == (422, True)


def test_a_deleted_document_is_gone_with_its_file_and_can_be_uploaded_again(client: TestClient, apps: Apps) -> None:
    run(client, {"a.txt": PLAIN}, "deleted")
    (document,) = client.get("/documents", params={"corpus": "deleted"}).json()["documents"]
    path, where = f"/documents/{document['doc_id']}", {"corpus": "deleted"}
    assert client.delete(path, params=where).status_code == 204
    assert not service_of(client).uploads.path(apps.scope(corpus="deleted"), "a.txt").exists()
    assert client.delete(path, params=where).status_code == 404
    assert client.get(f"/trees/{document['doc_id']}", params=where).status_code == 404
    assert outcomes(run(client, {"a.txt": PLAIN}, "deleted")) == {"a.txt": "added"}


def test_the_file_of_a_delete_that_was_killed_is_removed_at_the_next_start(
    served: Served, apps: Apps, uploads: Path
) -> None:
    client, scope = served(), apps.scope(corpus="killed")
    run(client, {"a.txt": PLAIN}, "killed")
    (document,) = client.get("/documents", params={"corpus": "killed"}).json()["documents"]
    files, table = service_of(client).uploads, service_of(client).table
    apps.shared.store.delete(scope, document["doc_id"])  # what a DELETE has done when it is killed
    assert (files.path(scope, "a.txt").exists(), table.known_uploads(scope)) == (True, set())
    served()
    assert not files.path(scope, "a.txt").exists()


def test_a_file_that_was_sent_again_is_not_removed_with_its_old_document(client: TestClient, apps: Apps) -> None:
    service, scope = service_of(client), apps.scope(corpus="twice")
    doc_id = scope.id_of(uri_of_upload("a.txt"))
    run(client, {"a.txt": PLAIN}, "twice")
    path = service.uploads.path(scope, "a.txt")
    apps.shared.store.delete(scope, doc_id)
    job = upload(client, {"a.txt": PLAIN}, corpus="twice").json()["job"]
    apps.shared.store.delete(scope, doc_id)  # whether or not it was read yet
    service.uploads.remove_deleted(service.table)
    progress = ended(client, job["id"])
    stored = client.get("/documents", params={"corpus": "twice"}).json()["total"]
    assert (progress["failed"], path.exists(), service.table.known_uploads(scope)) == (
        0,
        bool(stored),
        {"a.txt"} if stored else set(),
    )


def test_files_that_are_sent_again_are_recognised_wherever_the_folder_of_uploads_is(
    served: Served, serve: Serve, apps: Apps, tmp_path: Path
) -> None:
    run(served(), {"a.txt": PLAIN}, "moved")
    elsewhere = serve(apps(tmp_path / "elsewhere"))
    assert outcomes(run(elsewhere, {"a.txt": PLAIN}, "moved")) == {"a.txt": "unchanged"}
    assert elsewhere.get("/documents", params={"corpus": "moved"}).json()["total"] == 1


def test_uploads_of_an_older_store_keep_their_ids_and_are_replaced_when_they_are_sent_again(
    served: Served, apps: Apps, tmp_path: Path
) -> None:
    scope, store = apps.scope(corpus="older"), apps.shared.store
    old = tmp_path / "old" / "files" / scope.folder / "a.txt"
    old.parent.mkdir(parents=True)
    old.write_text(PLAIN)
    DiscoRAG(backends=apps.shared).ingest(old, corpus="older")
    client = served()
    assert store.check().differences == ()
    assert outcomes(run(client, {"a.txt": PLAIN + " Twice a day."}, "older")) == {"a.txt": "replaced"}
    assert [m.doc_id for m in store.manifests(scope)] == [scope.id_of(str(old.resolve()))]
    assert store.check().differences == ()


def test_a_job_that_is_done_is_not_undone_by_cancelling(client: TestClient) -> None:
    progress = run(client, {"a.txt": PLAIN}, "again")
    assert client.delete(f"/ingest/{progress['job']['id']}").json() == progress


class Reader:
    """What a job does with a file, at a pace that the test sets: it waits for ``go``."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.go = asyncio.Event()

    async def __call__(self, scope: Scope, name: str) -> DocumentOutcome:
        self.read.append(name)
        await self.go.wait()
        if name.startswith("broken"):
            raise RuntimeError(name)
        return DocumentOutcome(uri=name, status=Status.ADDED)


def nothing() -> None:
    """Published already."""


Opening = Callable[[], SqliteFile | PostgresServer]


@pytest.fixture(params=["sqlite", "postgres"])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    """Opens one database, each time it is called."""
    if request.param == "sqlite":
        return lambda: SqliteFile(tmp_path / "documents.sqlite")
    url = SecretStr(request.getfixturevalue("new_database")())
    return lambda: PostgresServer(url)


@asynccontextmanager
async def working(opening: Opening, ingest: Ingest, at_once: int = 1) -> AsyncGenerator[Jobs]:
    """Jobs with their worker, as a server has them."""
    database = Database(opening(), ("test", 8))
    jobs = Jobs(JobTable(database), ingest, at_once)
    await jobs.forget_old()
    worker = asyncio.create_task(jobs.work())
    try:
        yield jobs
    finally:
        worker.cancel()
        with suppress(asyncio.CancelledError):
            await worker
        database.close()


async def wait_for(jobs: Jobs, job: Job) -> Job:
    while (found := await jobs.get(job.tenant, job.id)).ended is None:
        await asyncio.sleep(0.005)
    return found


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


async def test_jobs_take_turns_so_that_a_short_one_need_not_wait_for_a_long_one(opening: Opening) -> None:
    reader = Reader()
    async with working(opening, reader) as jobs:
        long = await jobs.accept(Scope(), dict.fromkeys(["l1", "l2", "l3", "l4"], 1), nothing)
        await wait_until(lambda: reader.read == ["l1"])
        short = await jobs.accept(Scope(), dict.fromkeys(["s1"], 1), nothing)
        reader.go.set()
        assert (await wait_for(jobs, short)).status is JobStatus.DONE
        assert (await wait_for(jobs, long)).status is JobStatus.DONE
    assert reader.read == ["l1", "s1", "l2", "l3", "l4"]


NORTH, SOUTH, EAST = (Scope(tenant=name) for name in ("north", "south", "east"))


async def test_a_tenant_with_few_files_need_not_wait_for_one_with_many_jobs(opening: Opening) -> None:
    reader = Reader()
    async with working(opening, reader) as jobs:
        for i in range(50):
            await jobs.accept(NORTH, dict.fromkeys([f"n{i}.1", f"n{i}.2"], 1), nothing)
        small = await jobs.accept(SOUTH, dict.fromkeys(["s1", "s2", "s3"], 1), nothing)
        reader.go.set()
        await wait_for(jobs, small)
    assert sum(name.startswith("n") for name in reader.read) < 10


async def test_a_tenant_need_not_wait_for_the_single_files_of_two_others(opening: Opening) -> None:
    reader = Reader()
    async with working(opening, reader) as jobs:
        for i in range(25):
            await jobs.accept(NORTH, {f"n{i}": 1}, nothing)
            await jobs.accept(SOUTH, {f"s{i}": 1}, nothing)
        small = await jobs.accept(EAST, {"e1": 1, "e2": 1}, nothing)
        reader.go.set()
        await wait_for(jobs, small)
    assert len(reader.read) < 12


class Slow(Reader):
    """A reader that never ends with files whose names begin with ``slow``."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = self.now = 0

    async def __call__(self, scope: Scope, name: str) -> DocumentOutcome:
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            if name.startswith("slow"):
                await asyncio.Event().wait()
            await asyncio.sleep(0)
            return await super().__call__(scope, name)
        finally:
            self.now -= 1


@pytest.mark.parametrize("at_once", [1, 3])
async def test_no_tenant_holds_all_places(opening: Opening, at_once: int) -> None:
    reader = Slow()
    reader.go.set()
    async with working(opening, reader, at_once) as jobs:
        await jobs.accept(NORTH, dict.fromkeys([f"slow {i}" for i in range(9)], 1), nothing)
        await wait_until(lambda: reader.now == at_once)
        for i in range(3):
            await wait_for(jobs, await jobs.accept(SOUTH, {f"s{i}": 1}, nothing))
        assert (reader.read, reader.now) == (["s0", "s1", "s2"], at_once)


async def test_one_file_is_never_read_twice_at_once(opening: Opening) -> None:
    reader = Slow()
    async with working(opening, reader, at_once=3) as jobs:
        first = await jobs.accept(Scope(), dict.fromkeys(["a"], 1), nothing)
        second = await jobs.accept(Scope(), dict.fromkeys(["a"], 1), nothing)
        other = await jobs.accept(Scope(corpus="other"), dict.fromkeys(["a"], 1), nothing)
        await wait_until(lambda: reader.now == 2)
        reader.go.set()
        for job in (first, second, other):
            assert (await wait_for(jobs, job)).status is JobStatus.DONE
    assert reader.read == ["a", "a", "a"]
    assert reader.peak == 2


async def test_files_wait_while_the_store_has_no_room(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interfaces.http.jobs.RETRY_S", 0.01)
    full = [True, True]

    async def read(scope: Scope, name: str) -> DocumentOutcome:
        if full:
            full.pop()
            raise StoreFullError("The disk is nearly full.")
        return DocumentOutcome(uri=name, status=Status.ADDED)

    async with working(opening, read) as jobs:
        job = await wait_for(jobs, await jobs.accept(Scope(), dict.fromkeys(["a"], 1), nothing))
    assert (job.status, full) == (JobStatus.DONE, [])


async def test_what_cannot_be_recorded_is_tried_again_after_a_pause(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails, slept, reader = [True], list[float](), Reader()
    done_with, sleep = JobTable.done, asyncio.sleep

    def fail_once(table: JobTable, *arguments: Any) -> None:
        if fails:
            fails.pop()
            raise StoreFullError("The disk is nearly full.")
        done_with(table, *arguments)

    async def note(seconds: float) -> None:
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr(JobTable, "done", fail_once)
    monkeypatch.setattr(asyncio, "sleep", note)
    reader.go.set()
    async with working(opening, reader) as jobs:
        await jobs.accept(Scope(), {"a": 1}, nothing)
        await wait_until(lambda: not fails and RETRY_S in slept)
    assert reader.read == ["a"]


async def test_an_error_that_nobody_expected_fails_its_file_and_stops_nothing(opening: Opening) -> None:
    reader = Reader()
    reader.go.set()
    async with working(opening, reader) as jobs:
        first = await wait_for(jobs, await jobs.accept(Scope(), dict.fromkeys(["broken", "fine"], 1), nothing))
        second = await wait_for(jobs, await jobs.accept(Scope(), dict.fromkeys(["fine"], 1), nothing))
    assert [f.status for f in first.files] == [Status.FAILED, Status.ADDED]
    assert "log" in first.files[0].note
    assert (first.status, second.status) == (JobStatus.FAILED, JobStatus.DONE)


async def test_a_job_that_is_cancelled_at_work_stops_and_the_next_one_goes_on(opening: Opening) -> None:
    reader = Reader()
    async with working(opening, reader) as jobs:
        job = await jobs.accept(Scope(), dict.fromkeys(["a", "b"], 1), nothing)
        await wait_until(lambda: reader.read == ["a"])
        waiting = await jobs.accept(Scope(), dict.fromkeys(["never"], 1), nothing)
        await jobs.cancel(waiting.tenant, waiting.id)
        assert (await jobs.cancel(job.tenant, job.id)).status is JobStatus.CANCELLED
        other = await jobs.accept(Scope(), dict.fromkeys(["c"], 1), nothing)
        await wait_until(lambda: reader.read == ["a", "c"])
        reader.go.set()
        await wait_for(jobs, other)
        found = await jobs.get(job.tenant, job.id)
    assert found.status is JobStatus.CANCELLED
    assert [f.status for f in found.files] == [None, None]


async def test_a_newer_file_waits_until_that_of_a_cancelled_job_has_stopped(opening: Opening) -> None:
    reader, stopped = Reader(), asyncio.Event()

    async def stop_late(scope: Scope, name: str) -> DocumentOutcome:
        try:
            return await reader(scope, name)
        finally:
            while not stopped.is_set():
                with suppress(asyncio.CancelledError):
                    await stopped.wait()

    async with working(opening, stop_late, at_once=2) as jobs:
        older = await jobs.accept(Scope(), {"a": 1}, nothing)
        await wait_until(lambda: reader.read == ["a"])
        await jobs.cancel(older.tenant, older.id)
        newer = await jobs.accept(Scope(), {"a": 1}, nothing)
        await jobs.accept(Scope(), {"b": 1}, nothing)
        await wait_until(lambda: reader.read[1:] != [])
        stopped.set()
        reader.go.set()
        assert (await wait_for(jobs, newer)).status is JobStatus.DONE
    assert reader.read == ["a", "b", "a"]


@pytest.mark.parametrize("jobs_at_once", [1, 3])
async def test_a_job_can_be_cancelled_at_any_step_of_its_start(opening: Opening, jobs_at_once: int) -> None:
    reader = Reader()
    async with working(opening, reader, at_once=jobs_at_once) as jobs:
        for steps in range(20):  # of the event loop
            job = await jobs.accept(Scope(), dict.fromkeys(["a", "b"], 1), nothing)
            cancelling = asyncio.create_task(jobs.cancel(job.tenant, job.id))
            for _ in range(steps):
                await asyncio.sleep(0)
            await asyncio.gather(cancelling, jobs.cancel(job.tenant, job.id))
        reader.go.set()
        last = await jobs.accept(Scope(), {"a": 1}, nothing)
        assert (await wait_for(jobs, last)).status is JobStatus.DONE


async def test_what_a_server_did_not_finish_is_taken_up_when_it_starts_again(opening: Opening) -> None:
    stopped, reader = Reader(), Reader()
    async with working(opening, stopped) as jobs:
        job = await jobs.accept(Scope(), dict.fromkeys(["a", "b"], 1), nothing)
        await wait_until(lambda: stopped.read == ["a"])
    reader.go.set()
    async with working(opening, reader) as jobs:
        assert (await wait_for(jobs, job)).status is JobStatus.DONE
    assert reader.read == ["a", "b"]


async def test_a_job_that_ended_long_ago_is_forgotten_at_the_next_start(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader()
    reader.go.set()
    async with working(opening, reader) as jobs:
        job = await wait_for(jobs, await jobs.accept(Scope(), {"a": 1}, nothing))
    monkeypatch.setattr("interfaces.http.jobs.RETENTION", timedelta())
    async with working(opening, reader) as jobs:
        with pytest.raises(NotFoundError, match="a week"):
            await jobs.get(job.tenant, job.id)


@pytest.fixture
def server(new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> PostgresServer:
    monkeypatch.setattr("interfaces.http.jobs.POLL_S", 0.05)
    monkeypatch.setattr("interfaces.http.jobs.RETRY_S", 0.05)
    return PostgresServer(SecretStr(new_database()))


async def test_two_servers_share_the_files_of_a_job_and_read_each_once(server: PostgresServer) -> None:
    names, readers = [f"f{i}" for i in range(12)], (Reader(), Reader())
    async with working(lambda: server, readers[0]) as one, working(lambda: server, readers[1]):
        job = await one.accept(Scope(), dict.fromkeys(names, 1), nothing)
        await wait_until(lambda: all(reader.read for reader in readers))
        for reader in readers:
            reader.go.set()
        assert [f.status for f in (await wait_for(one, job)).files] == [Status.ADDED] * len(names)
    assert sorted(readers[0].read + readers[1].read) == sorted(names)


async def test_what_a_dead_server_read_another_one_reads_and_a_job_is_cancelled_on_any(server: PostgresServer) -> None:
    hung, well = Reader(), Reader()
    async with working(lambda: server, hung) as first:
        job = await first.accept(Scope(), {"a": 1}, nothing)
        await wait_until(lambda: hung.read == ["a"])
        async with working(lambda: server, well) as second:
            with server.engine.begin() as db:
                others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                db.exec_driver_sql(others + "AND datname = current_database()")
            await wait_until(lambda: well.read == ["a"])
            await first.cancel(job.tenant, job.id)
            other = await first.accept(Scope(), {"b": 1, "c": 1}, nothing)
            await wait_until(lambda: {*hung.read, *well.read} == {"a", "b", "c"})
            assert len(hung.read) == len(well.read) == 2  # each has a place again
            hung.go.set()
            well.go.set()
            assert (await wait_for(first, other)).status is JobStatus.DONE
            assert (await second.get(job.tenant, job.id)).status is JobStatus.CANCELLED
