"""What the disk cache keeps and tells apart."""

import os
from pathlib import Path
from typing import Any

import pytest

from discorag.models.cache import ReplyCache
from discorag.models.protocol import Request
from discorag.schema.errors import InvalidOutputError, Usage
from tests.models.helpers import GOOD, fruit_request, gateway, messages, text_request
from tests.servers.scripted import ScriptedServer


async def test_cache_hit_sends_nothing_and_costs_nothing_also_in_a_new_process(tmp_path: Path) -> None:
    with ScriptedServer([GOOD]) as server:
        first = await gateway(server, cache=tmp_path).complete(fruit_request())
        again = await gateway(server, cache=tmp_path).complete(fruit_request())
    assert len(server.requests) == 1
    assert again.usage == Usage(disk_hits=1)
    assert (again.text, again.value, again.prompt_hash) == (first.text, first.value, first.prompt_hash)


async def test_cache_tells_requests_apart(tmp_path: Path) -> None:
    base: dict[str, Any] = {"stage": "fruit", "messages": messages("Which?"), "parse": str, "schema": {}}
    changes: list[dict[str, Any]] = [{"schema": None}, {"max_tokens": 9}, {"temperature": 1.0}, {"beam_width": 2}]
    changes += [{}, {"messages": messages("Else?")}]
    with ScriptedServer(lambda body: "x") as server:
        made = gateway(server, cache=tmp_path)
        replies = [await made.complete(Request(**(base | change))) for change in changes]
    assert [r.usage.disk_hits for r in replies] == [0] * len(changes)


async def test_only_valid_output_is_cached_and_a_repaired_one_is(tmp_path: Path) -> None:
    with ScriptedServer(["bad", "bad", "bad", GOOD]) as server:
        made = gateway(server, cache=tmp_path)
        with pytest.raises(InvalidOutputError):
            await made.complete(fruit_request())
        assert (await made.complete(fruit_request())).usage.repairs == 1
        assert (await made.complete(fruit_request())).usage == Usage(disk_hits=1)


@pytest.mark.parametrize("cache", [".", "replies.sqlite/folder"])
async def test_a_cache_that_is_damaged_or_cannot_be_made_is_a_miss_and_the_log_names_its_setting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, cache: str
) -> None:
    (tmp_path / "replies.sqlite").write_bytes(b"no database" * 100)
    with ScriptedServer(lambda body: "x") as server:
        made = gateway(server, cache=tmp_path / cache)
        assert [(await made.complete(text_request())).usage.disk_hits for _ in range(2)] == [0, 0]
    assert "DISCO_RAG_LLM__CACHE" in caplog.text


async def test_only_its_user_reads_the_cache_also_one_that_others_could_read(tmp_path: Path) -> None:
    file = tmp_path / "replies.sqlite"
    file.touch(0o644)
    with ScriptedServer(["x"]) as server:
        await gateway(server, cache=tmp_path).complete(text_request())
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_cache_of_another_user_or_on_a_mount_that_cannot_be_written_is_read_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: Path, *_: object, **__: object) -> None:
        raise OSError("Read-only file system")

    cache = ReplyCache(tmp_path)
    cache.put("key", "text", False)
    for change in ("mkdir", "touch", "chmod"):
        monkeypatch.setattr(Path, change, refuse)
    assert cache.get("key") == ("text", False)
    os.chmod(tmp_path / "replies.sqlite", 0o660)
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    assert cache.get("key") == ("text", False)


def test_the_oldest_replies_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discorag.models.cache.MOST", 3)
    cache = ReplyCache(tmp_path)
    for number in range(5):
        cache.put(str(number), "text", False)
    assert [key for key in "01234" if cache.get(key)] == ["2", "3", "4"]
