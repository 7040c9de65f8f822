"""Models of the hub: found on this machine or not at all, and pulled."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

from discorag.models.hub import local_model, pull_model
from discorag.models.tokens import tokenizer_named
from discorag.schema.errors import ConfigError
from interfaces.cli import main as cli

REVISION = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": "{}",
    "model.safetensors": "weights",
    "1_Pooling/config.json": "{}",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


@pytest.fixture
def online(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A hub that has acme/mini; what is downloaded is kept."""
    asked: list[dict[str, Any]] = []

    class Api:
        def model_info(self, name: str) -> Any:
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


def _store(cache: Path, name: str) -> Path:
    place = cache / f"models--{name.replace('/', '--')}"
    folder = place / "snapshots" / REVISION
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / "main").write_text(REVISION)
    return folder


def test_an_absent_model_is_not_downloaded(cache: Path) -> None:
    with pytest.raises(ConfigError, match=r"'acme/mini' is not on this machine.*disco-rag models pull acme/mini`"):
        local_model("acme/mini")
    with pytest.raises(ConfigError, match=r"models pull acme/mini --tokenizer`"):
        tokenizer_named("acme/mini")
    with pytest.raises(ConfigError, match="is not on this machine"):
        local_model("no/such name/at all")


def test_a_pulled_model_is_found_and_a_tokenizer_can_be_pulled_alone(online: list[dict[str, Any]]) -> None:
    assert pull_model("acme/mini") == ("mit", REVISION)
    assert local_model("acme/mini").name == REVISION
    assert "*.bin" in online[0]["ignore_patterns"]
    pull_model("acme/mini", tokenizer_only=True)
    assert "tokenizer.json" in online[1]["allow_patterns"]


def test_a_hub_that_does_not_answer_is_a_configuration_error(online: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigError, match=r"'acme/none' cannot be downloaded: 404: no acme/none.*copy the hub"):
        pull_model("acme/none")


@pytest.mark.usefixtures("online")
def test_the_command_line_pulls_and_says_the_licence() -> None:
    assert "acme/mini (mit)" in CliRunner().invoke(cli.app, ["models", "pull", "acme/mini"]).output
