"""Download models from the Hugging Face hub, and carry them to a machine without network.

Only ``disco-rag models`` calls this; a question or an ingest never does.
"""

# huggingface_hub is typed in part only.
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from discorag.models.hub import LOCK_FILE, LockedModel, ModelLock, PulledRole, compare_with_lock, local_model
from discorag.models.packaged import file_sha256
from discorag.schema.errors import ConfigError, InputError

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
        hint = "Check the name and the network, and unset HF_HUB_OFFLINE; or use `disco-rag models pull --from FILE`."
        raise ConfigError(f"The model '{name}' cannot be downloaded: {reason}", hint=hint) from error
    model = LockedModel(
        name=name,
        role=role or _role_of(folder),
        revision=str(info.sha),
        licence=_licence_of(info.card_data),
        files={path.relative_to(folder).as_posix(): file_sha256(path) or "" for path in _files(folder)},
    )
    ModelLock.read(lock_file).with_model(model).write(lock_file)
    return model


def pack_models(target: Path, lock_file: Path) -> tuple[LockedModel, ...]:
    """Write the lock file and all models that it lists into a ``.tar.gz`` file.

    Raises:
        ConfigError: The lock file lists nothing, or a model is not on this machine or is not the one that was pulled.
    """
    lock = ModelLock.read(lock_file)
    if not lock.models:
        raise ConfigError("No models were pulled.", hint="Download one with `disco-rag models pull NAME`.")
    draft = target.with_name(f"{target.name}.part")
    with tarfile.open(draft, "w:gz") as archive:
        _add_bytes(archive, LOCK_FILE, lock.model_dump_json().encode())
        for model in lock.models:
            folder = local_model(model.name, tuple(model.files))
            compare_with_lock(folder, model)
            for path in model.files:
                archive.add((folder / path).resolve(), f"{model.revision}/{path}")
    draft.replace(target)
    return lock.models


def unpack_models(source: Path, lock_file: Path) -> tuple[LockedModel, ...]:
    """Put the models of a file that `pack_models` wrote into the hub's cache, and enter them into the lock file.

    Raises:
        InputError: The file is not such a file, or what it holds is not what its lock file lists.
    """
    with tempfile.TemporaryDirectory(prefix="disco-rag-models-") as place:
        folder = Path(place)
        try:
            with tarfile.open(source, "r:gz") as archive:
                archive.extractall(folder, filter="data")
            packed = ModelLock.read(folder / LOCK_FILE)
            for model in packed.models:
                compare_with_lock(folder / model.revision, model)
        except (tarfile.TarError, OSError, EOFError, ConfigError) as error:
            hint = "Pack the models again with `disco-rag models pack FILE`."
            raise InputError(f"{source} cannot be unpacked: {error}", hint=hint) from error
        for model in packed.models:
            _install(folder / model.revision, model)
    lock = ModelLock.read(lock_file)
    for model in packed.models:
        lock = lock.with_model(model)
    lock.write(lock_file)
    return packed.models


def _install(source: Path, model: LockedModel) -> None:
    """Move files into the layout of the hub's cache, where every library of Hugging Face finds them."""
    from huggingface_hub import constants

    place = Path(constants.HF_HUB_CACHE) / f"models--{model.name.replace('/', '--')}"
    for path in model.files:
        target = place / "snapshots" / model.revision / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.move(source / path, target)
    main = place / "refs" / "main"
    if not main.exists():
        main.parent.mkdir(parents=True, exist_ok=True)
        main.write_text(model.revision, "utf-8")


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, BytesIO(content))


def _files(folder: Path) -> Sequence[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _role_of(folder: Path) -> PulledRole:
    """Return what a model is for: a classifier of one label reranks, one of several judges inference."""
    file = folder / "config.json"
    config: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    architectures: list[str] = config.get("architectures") or []
    if not any(name.endswith("ForSequenceClassification") for name in architectures):
        return "encoder"
    return "reranker" if len(config.get("id2label") or {"0": ""}) == 1 else "nli"


def _licence_of(card: Any) -> str | None:
    licence = getattr(card, "license", None)
    return licence if isinstance(licence, str) else None
