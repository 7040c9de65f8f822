"""The patches of docs/change.md apply to the code as it is now, touch few files, and do what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES

ROOT = EXAMPLES.parent
MOST_FILES = 4
_EXAMPLE = re.compile(r"^## (.*?)$.*?^```diff\n(.*?)^```\n\n^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
CHANGES = _EXAMPLE.findall((ROOT / "docs/change.md").read_text("utf-8"))


def test_the_page_has_five_changes() -> None:
    titles = ["A node", "A retriever", "A relation type", "An option", "A file format"]
    assert [title for title, _, _ in CHANGES] == titles


@pytest.mark.parametrize(("patch", "shown"), [change[1:] for change in CHANGES], ids=[change[0] for change in CHANGES])
def test_a_change_works(patch: str, shown: str, tmp_path: Path) -> None:
    assert len(re.findall(r"^\+\+\+ ", patch, re.MULTILINE)) <= MOST_FILES
    skipped = shutil.ignore_patterns("__pycache__", "weights", "*.onnx", "page")
    for folder in ("discorag", "graphs", "nodes", "interfaces", "prompts", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skipped)
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), check=True)
    done = subprocess.run(
        [sys.executable, "-c", shown], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False
    )
    assert done.returncode == 0
