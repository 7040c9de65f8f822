"""Models of the Hugging Face hub on this machine: found in the hub's cache and compared with the lock file.

Nothing is downloaded here: `discorag.models.download` does that, for ``disco-rag models pull``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from discorag.config import Settings
from discorag.models.packaged import file_sha256
from discorag.schema.errors import ConfigError

LOCK_FILE = "disco-rag-models.lock.json"
PulledRole = Literal["encoder", "reranker", "nli", "tokenizer"]
_MODEL_FILES = ("config.json", "modules.json")
_SHAPING = (".json", ".txt", ".model", ".safetensors", ".bin", ".onnx")
"""Files of a folder that shape a model's output; others are cards, and the same weights for other runtimes."""


def _inside(path: str) -> str:
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise ValueError(f"{path} leads out of the model's folder")
    return path


class LockedModel(BaseModel):
    """A model that was pulled.

    Args:
        name: On the Hugging Face hub.
        role: What it is for.
        revision: Commit on the hub.
        licence: As the model card states it.
        files: SHA-256 of each file, by its path below the model's folder.

    Example:
        >>> from discorag.models.hub import LockedModel
        >>> LockedModel(name="acme/mini", role="encoder", revision="0" * 40, files={}).licence is None
        True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)?$")
    role: PulledRole
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    licence: str | None = None
    files: dict[Annotated[str, AfterValidator(_inside)], str]


class ModelLock(BaseModel):
    """The models that were pulled, as ``disco-rag-models.lock.json`` in the data folder lists them.

    Example:
        >>> from discorag.models.hub import ModelLock
        >>> ModelLock.read(tmp_path / "none.json").models
        ()
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: tuple[LockedModel, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a lock file; one that does not exist lists nothing. Raises `ConfigError` if it is damaged."""
        if not path.is_file():
            return cls()
        try:
            return cls.model_validate_json(path.read_bytes())
        except (ValidationError, OSError) as error:
            hint = "Delete it, and pull the models again with `disco-rag models pull NAME`."
            raise ConfigError(
                f"The lock file {path} cannot be read: {str(error).splitlines()[0]}.", hint=hint
            ) from error

    def write(self, path: Path) -> None:
        """Write the lock file, in the place of an earlier one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_text(self.model_dump_json(indent=1) + "\n", "utf-8")
        draft.replace(path)

    def get(self, name: str) -> LockedModel | None:
        """Return the entry of a model, None if it was not pulled."""
        return next((model for model in self.models if model.name == name), None)

    def with_model(self, model: LockedModel) -> Self:
        """Return the list with one more entry, which replaces an earlier one of its name."""
        others = [other for other in self.models if other.name != model.name]
        return type(self)(models=tuple(sorted([*others, model], key=lambda m: m.name)))


@dataclass
class _Current:
    """The lock file of the data folder that was opened last; like the hub's cache it belongs to the process."""

    path: Path = Path(".disco-rag") / LOCK_FILE


_current = _Current()
_compared: set[Path] = set()


def lock_path(settings: Settings) -> Path:
    """Return the path of the lock file: in the data folder, next to the store."""
    return settings.store.path.parent / LOCK_FILE


def use_lock(path: Path) -> None:
    """Compare models that are loaded from here on with this lock file."""
    _current.path = path


def local_model(name: str, files: tuple[str, ...] = _MODEL_FILES) -> Path:
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
    locked = ModelLock.read(_current.path).get(name)
    found = _cached_folder(name, locked.revision if locked else None, files)
    if found is None:
        option = " --role tokenizer" if files == ("tokenizer.json",) else ""
        raise ConfigError(
            f"The model '{name}' is not on this machine.",
            hint=f"Download it with `disco-rag models pull {name}{option}`.",
        )
    if locked and found not in _compared:
        compare_with_lock(found, locked)
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


def compare_with_lock(folder: Path, locked: LockedModel) -> None:
    """Compare the files in a folder with their SHA-256 in the lock file.

    Raises:
        ConfigError: A file is missing or has another content.
    """
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
