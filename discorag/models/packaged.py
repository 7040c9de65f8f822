"""The models inside this package: their files, languages, and sessions to run them."""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import hashlib
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discorag.schema.errors import ConfigError
from discorag.text.language import detect_language

_WEIGHTS = Path(__file__).with_name("weights")


@dataclass(frozen=True)
class PackagedModel:
    """A model inside this package; its licence and origin are in ``packaged.toml``.

    Args:
        name: As settings name it.
        languages: ISO 639-1 codes of the languages that it was trained on.
        files: SHA-256 of each file, by name; the weights come first.
    """

    name: str
    languages: Sequence[str]
    files: Mapping[str, str]

    @property
    def version(self) -> str:
        """Name and the first eight digits of the weights' SHA-256."""
        return f"{self.name}@{next(iter(self.files.values()))[:8]}"


def _read() -> dict[str, PackagedModel]:
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["model"]
    return {entry["name"]: PackagedModel(entry["name"], entry["languages"], entry["files"]) for entry in listed}


PACKAGED: Mapping[str, PackagedModel] = _read()
"""All packaged models by name."""
MINILM, MS_MARCO_MINILM = (PACKAGED[name] for name in ("all-MiniLM-L6-v2", "ms-marco-MiniLM-L-12-v2"))


def packaged_folder(name: str) -> Path:
    """Return the folder of a packaged model. Raises `ConfigError` if it is not complete."""
    folder = _WEIGHTS / name
    if missing := [file for file in PACKAGED[name].files if not (folder / file).is_file()]:
        hint = 'Install disco-rag again; in a clone of the repository: pip install -e "."'
        raise ConfigError(f"'{missing[0]}' of the packaged model '{name}' is missing.", hint=hint)
    return folder


def file_sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, None if there is no such file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def language_warning(text: str, models: Sequence[str]) -> str:
    """A sentence that names the models which do not know the language of a text; empty if all do, or if it is unknown.

    Args:
        text: The text of a document, or of the passages that were found.
        models: Versions of the encoder and the reranker. The languages of models that are not packaged are unknown.
    """
    packaged = [model for version in models if (model := PACKAGED.get(version.partition("@")[0]))]
    language = detect_language(text) if packaged else None
    unable = [model.name for model in packaged if language and language not in model.languages]
    if not unable:
        return ""
    return (
        f"The text is in a language (ISO code '{language}') that {' and '.join(unable)} cannot read: expect poor "
        "search results. docs/models.md says how to use another model."
    )


_FOLDER = "session.model_external_initializers_file_folder_path"
_SPINNING = "session.intra_op.allow_spinning"


def open_session(graph: Path, *, threads: int = 1, weights: Path | None = None) -> Any:
    """Load a graph for the CPU.

    Args:
        graph: An ONNX file.
        threads: Threads of one forward pass; 0 for one on each physical core.
        weights: Folder of the weights, where the graph does not hold them.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # since 1.32 it counts uses, and would send them
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry(_SPINNING, "0")  # threads that wait for work must not take a processor from others
    if weights:
        options.add_session_config_entry(_FOLDER, str(weights))
    return onnxruntime.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])
