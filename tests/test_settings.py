from pathlib import Path

import pytest
from pydantic import ValidationError

from discorag.config import Settings, read_settings
from discorag.schema.errors import ConfigError
from nodes.backends import name_model


def test_what_is_stored_lies_below_one_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "project" / "papers"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.delenv("DISCO_RAG_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert homes() == {tmp_path / "data" / "disco-rag"}
    (tmp_path / "project" / "disco-rag.toml").write_text('home = "kept"', encoding="utf-8")
    assert homes() == {tmp_path / "project" / "kept"}
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "project" / "disco-rag.toml").write_text('home = "~/kept"', encoding="utf-8")
    assert homes() == {tmp_path / "me" / "kept"}
    monkeypatch.setenv("DISCO_RAG_HOME", "here")
    assert homes() == {below / "here"}
    monkeypatch.setenv("DISCO_RAG_STORE__PATH", "other")
    assert read_settings().store.path == below / "here" / "other"


def homes() -> set[Path]:
    settings = read_settings()
    paths = {settings.store.path: "store", settings.api.uploads: "uploads", settings.llm.cache: "cache/llm"}
    assert all(path and path == settings.home / name for path, name in paths.items())
    return {settings.home}


def test_a_misspelt_setting_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCO_RAG_LLM__BASE_ULR", "http://localhost:1/v1")
    with pytest.raises(ValidationError, match="base_ulr"):
        Settings()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"corpus = [", "TOML"),
        (b'corpus = "caf\xe9"', "utf-8"),
        (b"colour = 1", "colour"),
        (b"[llm]\nconcurrency = 0", "llm"),
        (b"home = 5", "home"),
    ],
    ids=["broken TOML", "not UTF-8", "unknown key", "impossible value", "not a path"],
)
def test_a_bad_file_is_one_typed_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCO_RAG_HOME")
    (tmp_path / "disco-rag.toml").write_bytes(content)
    with pytest.raises(ConfigError, match="(?i)" + said):
        read_settings()


@pytest.mark.parametrize(("name", "value"), [("DISCO_RAG_KORPUS", "x"), ("DISCO_RAG_LLM", "no json")])
def test_a_setting_that_would_be_ignored_is_an_error(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError):
        read_settings()


def test_the_environment_wins_over_the_toml_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = 'corpus = "toml"\ntenant = "toml"\n[llm]\napi_key = "sk-secret"\n'
    (tmp_path / "disco-rag.toml").write_text(content, encoding="utf-8")
    monkeypatch.setenv("DISCO_RAG_TENANT", "environment")
    settings = read_settings()
    assert (settings.tenant, settings.corpus) == ("environment", "toml")
    assert "sk-secret" not in repr(settings)


def test_a_model_can_be_named_next_to_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCO_RAG_DATABASE_URL", "postgresql://host/name")
    named = name_model(read_settings(), "ollama:qwen3:8b")
    assert (named.llm_for("reader").provider, named.store.database_url) == ("ollama", named.database_url)
