"""The way of a question from the shell to the first comparison of vectors, as docs/architecture.md lists it."""

import gc
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import AsyncGeneratorType, CoroutineType, FrameType
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.store.edge import EdgeIndex
from interfaces.cli import main
from tests.conftest import EXAMPLES

ROOT = EXAMPLES.parent
OURS = ("discorag", "nodes", "graphs", "interfaces")
STOP = re.compile(r"^\d+\. `([\w/]+\.py)`: `([\w.]+)`", re.MULTILINE)


def listed() -> list[tuple[str, str]]:
    """File and function of each stop, in the order of the page."""
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    return STOP.findall(text[text.index("## From the shell to the first comparison") :])


def under_way() -> set[tuple[str, str]]:
    """File and function of all of ours that are being run or awaited; functions inside of functions do not count."""
    frames = [sys._current_frames()[threading.main_thread().ident or 0], sys._getframe(1)]
    found = {place for frame in frames for place in _up(frame)}
    for waits in gc.get_objects():
        # torch has an object whose `__class__` warns, so `isinstance` is not asked
        is_coroutine = type(waits) is CoroutineType
        if is_coroutine or type(waits) is AsyncGeneratorType:
            frame = waits.cr_frame if is_coroutine else waits.ag_frame
            if frame is not None and frame.f_lasti > 0:
                found |= set(_places(frame))
    return found


def _up(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    while frame is not None:
        yield from _places(frame)
        frame = frame.f_back


def _places(frame: FrameType) -> Iterator[tuple[str, str]]:
    file, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
    if file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in OURS and "<locals>" not in name:
        yield file.relative_to(ROOT).as_posix(), name


def test_the_page_lists_every_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCO_RAG_HOME", str(tmp_path))
    with DiscoRAG() as rag:
        rag.ingest(EXAMPLES / "zh", parser="rules")
    stops = set[tuple[str, str]]()
    compare = EdgeIndex.nearest

    def nearest(index: EdgeIndex, *arguments: Any, **named: Any) -> Any:
        if not stops:
            stops.update(under_way(), {("discorag/store/edge.py", "EdgeIndex.nearest")})
        return compare(index, *arguments, **named)

    monkeypatch.setattr(EdgeIndex, "nearest", nearest)
    main.ask("What is green tea?")
    assert stops == set(listed())
    counted = f"{len(stops)} functions in {len({file for file, _ in stops})} files"
    assert counted in " ".join((ROOT / "docs/architecture.md").read_text("utf-8").split())
