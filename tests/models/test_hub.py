"""Models of the hub: found on this machine or not at all, compared with the lock file, pulled, packed, unpacked."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from discorag.models import hub
from discorag.models.hub import LOCK_FILE, local_model, pull_model, read_lock
from discorag.models.tokens import tokenizer_named
from discorag.schema.errors import ConfigError
from interfaces.cli import main as cli

REVISION = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": json.dumps({"architectures": ["BertForSequenceClassification"], "id2label": {"0": "x"}}),
    "model.safetensors": "weights",
    "1_Pooling/config.json": "{}",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and a lock file of its own."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(hub, "_compared", set[Path]())
    monkeypatch.setattr(hub, "_current", hub._Current(tmp_path / LOCK_FILE))
    return folder


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / LOCK_FILE


@pytest.fixture
def online(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A hub that has acme/mini; what is downloaded is kept."""
    asked: list[dict[str, Any]] = []

    class Api:
        def model_info(self, name: str, revision: str | None = None) -> Any:
            if name != "acme/mini":
                raise OSError(f"404: no {name}\nmore")
            siblings = [SimpleNamespace(rfilename=path) for path in FILES]
            return SimpleNamespace(sha=REVISION, siblings=siblings, card_data=SimpleNamespace(license="mit"))

    def download(name: str, **options: Any) -> str:
        asked.append({"name": name, **options})
        return str(_store(cache, name))

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return asked


def _store(cache: Path, name: str, revision: str = REVISION) -> Path:
    place = cache / f"models--{name.replace('/', '--')}"
    folder = place / "snapshots" / revision
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / "main").write_text(revision)
    return folder


def test_an_absent_model_is_not_downloaded_and_a_damaged_lock_file_says_what_to_do(cache: Path, lock: Path) -> None:
    with pytest.raises(ConfigError, match=r"'acme/mini' is not on this machine.*disco-rag models pull acme/mini`"):
        local_model("acme/mini")
    with pytest.raises(ConfigError, match=r"models pull acme/mini --role tokenizer`"):
        tokenizer_named("acme/mini")
    with pytest.raises(ConfigError, match="is not on this machine"):
        local_model("no/such name/at all")
    lock.write_text("{")
    with pytest.raises(ConfigError, match=r"cannot be read.*pull the models again"):
        local_model("acme/mini")


def test_pull_enters_revision_licence_role_and_digests_into_the_lock_file(
    online: list[dict[str, Any]], lock: Path
) -> None:
    pulled = pull_model("acme/mini", lock, revision="v1")
    assert (pulled.role, pulled.licence, pulled.revision) == ("reranker", "mit", REVISION)
    assert pulled.files == {path: hashlib.sha256(text.encode()).hexdigest() for path, text in FILES.items()}
    assert read_lock(lock) == {"acme/mini": pulled}
    assert online[0]["revision"] == REVISION
    assert "*.bin" in online[0]["ignore_patterns"]
    again = pull_model("acme/mini", lock, role="tokenizer")
    assert read_lock(lock) == {"acme/mini": again}
    assert "tokenizer.json" in online[1]["allow_patterns"]


def test_a_hub_that_does_not_answer_is_a_configuration_error(online: list[dict[str, Any]], lock: Path) -> None:
    with pytest.raises(ConfigError, match=r"'acme/none' cannot be downloaded: 404: no acme/none.*copy the hub"):
        pull_model("acme/none", lock)
    assert not lock.exists()


def test_the_revision_of_the_lock_file_is_used(online: list[dict[str, Any]], cache: Path, lock: Path) -> None:
    pull_model("acme/mini", lock)
    _store(cache, "acme/mini", revision="f" * 40)
    assert local_model("acme/mini").name == REVISION


def test_a_file_that_changed_since_it_was_pulled_is_refused(
    online: list[dict[str, Any]], cache: Path, lock: Path
) -> None:
    pull_model("acme/mini", lock)
    (_store(cache, "acme/mini") / "model.safetensors").write_text("others")
    with pytest.raises(ConfigError, match=r"'model.safetensors' of the model 'acme/mini'.* not the file"):
        local_model("acme/mini")


def _run(*arguments: str) -> Any:
    return CliRunner().invoke(cli.app, ["models", *arguments], catch_exceptions=True)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCO_RAG_STORE__PATH", str(tmp_path / "store"))
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path


def test_the_command_line_pulls_and_lists(
    online: list[dict[str, Any]], lock: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "acme/mini (reranker, mit)" in _run("pull", "acme/mini").output
    monkeypatch.setenv("DISCO_RAG_RERANKER__MODEL", "acme/mini")
    listed = json.loads(_run("list", "--json").output)
    rows = {row["name"]: row for row in listed["models"]}
    assert rows["acme/mini"]["folder"]
    assert [name for name, row in rows.items() if row["in_use"]] == ["all-MiniLM-L6-v2", "acme/mini"]
    assert "ms-marco-MiniLM-L-12-v2" in _run("list").output
