"""The encoder by ONNX Runtime, seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ENCODE = (
    "import asyncio; from discorag.models.encoder import PackagedEncoder;"
    "asyncio.run(PackagedEncoder().encode_query('Why?'))"
)


def test_the_runtime_keeps_no_record_of_uses_to_send(tmp_path: Path):
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", _ENCODE], env=environment, check=True)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
