"""Models of the Hugging Face hub: found in the hub's cache, compared with the lock file, downloaded.

Only ``disco-rag models`` downloads; a question or an ingest never does.
"""

# huggingface_hub is typed in part only.
# pyright: reportUnknownVariableType=false
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from discorag.config import Settings
from discorag.models.packaged import file_sha256
from discorag.schema.errors import ConfigError

LOCK_FILE = "disco-rag-models.lock.json"
PulledRole = Literal["encoder", "reranker", "nli", "tokenizer"]
MODEL_FILES = ("config.json", "modules.json")
_SHAPING = (".json", ".txt", ".model", ".safetensors", ".bin", ".onnx")
"""Files of a folder that shape a model's output; others are cards, and the same weights for other runtimes."""


class LockedModel(BaseModel):
    """A model that was pulled.

    Args:
        name: On the Hugging Face hub.
        role: What it is for.
        revision: Commit on the hub.
        licence: As the model card states it.
        files: SHA-256 of each file, by its path below the model's folder.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    role: PulledRole
    revision: str
    licence: str | None = None
    files: dict[str, str]


_LOCK = TypeAdapter(dict[str, LockedModel])


def read_lock(path: Path) -> dict[str, LockedModel]:
    """The models that were pulled, by name; none if there is no lock file. Raises `ConfigError` if it is damaged."""
    if not path.is_file():
        return {}
    try:
        return _LOCK.validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        hint = "Delete it, and pull the models again with `disco-rag models pull NAME`."
        raise ConfigError(f"The lock file {path} cannot be read: {str(error).splitlines()[0]}.", hint=hint) from error


@dataclass
class _Current:
    """The lock file of the data folder that was opened last; like the hub's cache it belongs to the process."""

    path: Path = Path(LOCK_FILE)


_current = _Current()
_compared: set[Path] = set()


def lock_path(settings: Settings) -> Path:
    """Return the path of the lock file: in the data folder, next to the store."""
    return settings.store.path.parent / LOCK_FILE


def use_lock(path: Path) -> None:
    """Compare models that are loaded from here on with this lock file."""
    _current.path = path


def local_model(name: str, files: tuple[str, ...] = MODEL_FILES) -> Path:
    """Return the folder of a model on this machine.

    Args:
        name: Its folder, or its name on the Hugging Face hub.
        files: One of these must be there.

    Raises:
        ConfigError: It is not on this machine, or its files are not those of the lock file.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ConfigError(f"The model folder '{name}' does not exist.", hint="Name a folder, or a model of the hub.")
    locked = read_lock(_current.path).get(name)
    found = _cached_folder(name, locked.revision if locked else None, files)
    if found is None:
        option = " --role tokenizer" if files == ("tokenizer.json",) else ""
        raise ConfigError(
            f"The model '{name}' is not on this machine.",
            hint=f"Download it with `disco-rag models pull {name}{option}`.",
        )
    if locked and found not in _compared:
        _compare_with_lock(found, locked)
        _compared.add(found)
    return found


def _cached_folder(name: str, revision: str | None, files: tuple[str, ...]) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        for file in files:
            path = try_to_load_from_cache(name, file, revision=revision)
            if isinstance(path, str):
                return Path(path).parents[len(Path(file).parts) - 1]
    except HFValidationError:
        return None
    return None


def _compare_with_lock(folder: Path, locked: LockedModel) -> None:
    """Compare the files in a folder with their SHA-256 in the lock file. Raises `ConfigError` if one differs."""
    wrong = [path for path, expected in locked.files.items() if file_sha256(folder / path) != expected]
    if wrong:
        raise ConfigError(
            f"'{wrong[0]}' of the model '{locked.name}' is missing, or not the file that was pulled.",
            hint=f"Delete {folder}, then run `disco-rag models pull {locked.name}`.",
        )


def model_version(name: str) -> str:
    """Return a model's name and revision; of a folder its own name and a digest of the files that shape its output.

    Raises:
        ConfigError: As `local_model`.
    """
    folder = local_model(name)
    if Path(name).expanduser().is_dir():
        return f"{folder.resolve().name}@{_folder_digest(folder.resolve())[:12]}"
    return f"{name}@{folder.name[:12]}"


@cache
def _folder_digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for file in sorted(f for f in folder.rglob("*") if f.suffix in _SHAPING):
        whole.update(file.relative_to(folder).as_posix().encode())
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return whole.hexdigest()


_OTHER_RUNTIMES = ["*.onnx", "*.onnx_data", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.tflite", "openvino/*", "coreml/*"]
_TOKENIZER = ["tokenizer.json", "tokenizer_config.json", "config.json"]


def pull_model(
    name: str, lock_file: Path, *, revision: str | None = None, role: PulledRole | None = None
) -> LockedModel:
    """Download a model into the hub's cache, and enter its revision and SHA-256 into the lock file.

    Args:
        name: On the Hugging Face hub.
        lock_file: Where the entry goes.
        revision: Branch, tag or commit. Default: the hub's main branch.
        role: What it is for; ``tokenizer`` downloads nothing else. Default: as its configuration says.

    Raises:
        ConfigError: The hub cannot be reached, or has no such model.
    """
    from huggingface_hub import HfApi, snapshot_download

    try:
        info = HfApi().model_info(name, revision=revision)
        paths = [file.rfilename for file in info.siblings or []]
        wanted = _TOKENIZER if role == "tokenizer" else None
        ignored = [*_OTHER_RUNTIMES, *(["*.bin", "*.pt"] if any(p.endswith(".safetensors") for p in paths) else [])]
        folder = Path(snapshot_download(name, revision=info.sha, allow_patterns=wanted, ignore_patterns=ignored))
    except Exception as error:  # the hub's own errors, and those of its HTTP client
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "Check the name and the network, and unset HF_HUB_OFFLINE; or copy the hub's cache from another machine."
        raise ConfigError(f"The model '{name}' cannot be downloaded: {reason}", hint=hint) from error
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    licence = getattr(info.card_data, "license", None)
    model = LockedModel(
        name=name,
        role=role or _role_of(folder),
        revision=str(info.sha),
        licence=licence if isinstance(licence, str) else None,
        files={path.relative_to(folder).as_posix(): file_sha256(path) or "" for path in files},
    )
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    draft = lock_file.with_suffix(".tmp")
    draft.write_bytes(_LOCK.dump_json(dict(sorted((read_lock(lock_file) | {name: model}).items())), indent=1) + b"\n")
    draft.replace(lock_file)
    return model


def _role_of(folder: Path) -> PulledRole:
    """Return what a model is for: a classifier of one label reranks, one of several judges inference."""
    file = folder / "config.json"
    config: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    architectures: list[str] = config.get("architectures") or []
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        return "encoder"
    return "reranker" if len(config.get("id2label") or {"0": ""}) == 1 else "nli"
