"""Models of the Hugging Face hub: found in the hub's cache, and downloaded into it.

Only ``disco-rag models pull`` downloads; a question or an ingest never does.
"""

# huggingface_hub is typed in part only.
# pyright: reportUnknownVariableType=false
import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from discorag.schema.errors import ConfigError

MODEL_FILES = ("config.json", "modules.json")
TOKENIZER_FILES = ("tokenizer.json",)
_SHAPING = (".json", ".txt", ".model", ".safetensors", ".bin", ".onnx")
"""Files of a folder that shape a model's output; others are cards, and the same weights for other runtimes."""


def local_model(name: str, files: tuple[str, ...] = MODEL_FILES) -> Path:
    """Return the folder of a model on this machine.

    Args:
        name: Its folder, or its name on the Hugging Face hub.
        files: One of these must be there.

    Raises:
        ConfigError: It is not on this machine.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ConfigError(f"The model folder '{name}' does not exist.", hint="Name a folder, or a model of the hub.")
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    with suppress(HFValidationError):
        for file in files:
            if isinstance(path := try_to_load_from_cache(name, file), str):
                return Path(path).parent
    option = " --tokenizer" if files == TOKENIZER_FILES else ""
    raise ConfigError(
        f"The model '{name}' is not on this machine.", hint=f"Download it with `disco-rag models pull {name}{option}`."
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


def pull_model(name: str, *, tokenizer_only: bool = False) -> tuple[str, str]:
    """Download a model of the Hugging Face hub into the hub's cache; return its licence and its commit.

    The licence is the one that the model card states, or empty.

    Raises:
        ConfigError: The hub cannot be reached, or has no such model.
    """
    from huggingface_hub import HfApi, snapshot_download

    try:
        info = HfApi().model_info(name)
        paths = [file.rfilename for file in info.siblings or []]
        ignored = [*_OTHER_RUNTIMES, *(["*.bin", "*.pt"] if any(p.endswith(".safetensors") for p in paths) else [])]
        snapshot_download(name, allow_patterns=_TOKENIZER if tokenizer_only else None, ignore_patterns=ignored)
    except Exception as error:  # the hub's own errors, and those of its HTTP client
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "Check the name and the network, and unset HF_HUB_OFFLINE; or copy the hub's cache from another machine."
        raise ConfigError(f"The model '{name}' cannot be downloaded: {reason.rstrip('.')}.", hint=hint) from error
    return str(getattr(info.card_data, "license", None) or ""), str(info.sha)
