from contextlib import closing
from pathlib import Path

import pytest

from discorag.config import ReadingSettings
from discorag.ingest.reader import Reader


async def test_text_stays_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    (tmp_path / "a.md").write_text("---\nyear: 2020\n---\n# Tides\n\nThey rise.\n")
    with closing(Reader(ReadingSettings())) as reader:
        document = await reader.read(tmp_path / "a.md")
    assert (document.title, document.metadata) == ("Tides", {"year": "2020"})
