"""Models inside this package: their files, and what is said where one is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discorag.models import packaged
from discorag.models.packaged import MINILM, PACKAGED, file_sha256, packaged_folder
from discorag.schema.errors import ConfigError

_SCORE = (
    "import asyncio, sys; from discorag.models.reranker import reranker_from;"
    "from discorag.config import RerankerSettings;"
    "asyncio.run(reranker_from(RerankerSettings()).scores('Why?', ['Tides rise.']));"
    "sys.exit('torch' in sys.modules)"
)
_ENCODE = (
    "import asyncio, sys; from discorag.models.encoder import PackagedEncoder;"
    "asyncio.run(PackagedEncoder().encode_query('Why?'));"
    "sys.exit('torch' in sys.modules)"
)


@pytest.mark.parametrize("name", PACKAGED)
def test_every_packaged_model_is_there_and_the_one_that_was_chosen(name: str) -> None:
    folder = packaged_folder(name)
    assert {file: file_sha256(folder / file) for file in PACKAGED[name].files} == PACKAGED[name].files
    assert name in (Path(__file__).parents[2] / "NOTICE").read_text("utf-8")


def test_in_a_clone_that_was_never_installed_the_way_to_the_models_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "_WEIGHTS", tmp_path)
    with pytest.raises(ConfigError, match=r"safetensors.* is missing.*pip install -e"):
        packaged_folder(MINILM.name)


@pytest.mark.parametrize("use", [_SCORE, _ENCODE], ids=["rerank", "encode"])
def test_models_run_without_torch_and_keep_no_record_of_uses_to_send(use: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", use], env=environment, check=True)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
