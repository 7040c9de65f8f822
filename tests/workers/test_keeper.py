"""Who watches over the keeper."""

from __future__ import annotations

import os
import time
from pathlib import Path
from signal import SIGSTOP

import pytest

from discorag.settings import Settings
from graphs.workers import supervisor
from graphs.workers.wire import Keeper


@pytest.mark.deep
def test_a_keeper_that_hangs_is_started_again_and_calls_wait_for_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.model_validate(
        {"store": {"path": tmp_path / "store"}, "api": {"uploads": tmp_path / "uploads"}}
    )
    watched = supervisor._Keeper(settings, str(tmp_path / "keeper"))
    try:
        hangs = watched._process.pid
        for _ in range(3):
            watched.watch()
            time.sleep(0.05)
        assert watched._process.pid == hangs
        assert hangs is not None
        os.kill(hangs, SIGSTOP)
        watched.watch()
        assert watched._process.pid == hangs
        monkeypatch.setattr(supervisor, "HUNG_S", 0.2)
        time.sleep(0.3)
        watched.watch()
        monkeypatch.undo()
        assert watched._process.pid != hangs
        assert Keeper(str(tmp_path / "keeper")).call("store", "read", "catalogue", "all") == []
    finally:
        watched.end()
    assert not watched._process.is_alive()
