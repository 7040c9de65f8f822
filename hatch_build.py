"""Build hook of the wheel: all folders of the house, and the example corpora, lie inside the one package ``discorag``.

It also puts the models into the package, where an editable install finds them too: `discorag/models/packaged.toml`
says from which distributions. Those are needed for a build only; with what they need they take 400 MB.

In the repository ``graphs``, ``interfaces``, ``nodes``, ``prompts`` and ``eval`` are top-level packages, where an
editable install finds them. Other distributions own such names too, so the wheel has ``discorag/graphs`` and so on:
copies in which only the import statements name the new place. Line numbers stay the same.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shutil
import struct
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "discorag"
MOVED = ("graphs", "interfaces", "nodes", "prompts", "eval")
LEFT_OUT = (Path("eval/expected"), Path("eval/results"))
"""What the evaluation once gave: records of the repository, not parts of the program."""
EXAMPLES = "examples"
EXAMPLE_SUFFIXES = {".md", ".txt", ".toml"}
"""Suffixes of the documents and questions that ``disco-rag demo`` needs; programs and notebooks are left out."""

PAGE = Path("interfaces/http/page/index.html")
MODELS = Path("discorag/models")

Edit = tuple[int, int, str, str]
"""Line (from 0), column in bytes, the text there, the text in its place."""


class WheelHook(BuildHookInterface[Any]):
    """Hands the wheel every file of the packages, those in Python with their imports rewritten."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the models, and the copies; an editable install needs no copies."""
        put_models(Path(self.root))
        if version == "editable":
            return
        if not Path(self.root, PAGE).is_file():
            raise FileNotFoundError(f"{PAGE} is missing: `make web` builds the page in the browser.")
        self._folder = TemporaryDirectory()
        self._copies = Path(self._folder.name)
        for file in _files(Path(self.root)):
            copy = self._copies / inside(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(self.root, file), copy)
            if file.suffix == ".py":
                copy.write_text(rewritten(copy.read_text("utf-8")), "utf-8")
        build_data["force_include"][str(self._copies / PACKAGE)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        if version != "editable":
            self._folder.cleanup()


def put_models(root: Path) -> None:
    """Write the files of the packaged models that are not there yet, from the distributions that have them.

    Models that are not listed any more are removed.

    Raises:
        PackageNotFoundError: Such a distribution is not installed.
        ValueError: A file is not the one that is listed.
    """
    models = tomllib.loads((root / MODELS / "packaged.toml").read_text("utf-8"))["model"]
    weights = root / MODELS / "weights"
    for folder in set(weights.glob("*")) - {weights / model["name"] for model in models}:
        shutil.rmtree(folder)
    for model in models:
        for name, expected in model["files"].items():
            file = weights / model["name"] / name
            if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == expected:
                continue
            source = Path(str(distribution(model["distribution"]).locate_file(model["folder"])), name)
            content = CHANGES.get(name, bytes)(source.read_bytes())
            if hashlib.sha256(content).hexdigest() != expected:
                raise ValueError(f"{source} is not the file that {MODELS / 'packaged.toml'} names.")
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part")
            part.write_bytes(content)
            part.replace(file)


def halve_floats(safetensors: bytes) -> bytes:
    """The floats of a file of safetensors in 16 bits: half the size, and vectors whose cosine with the old is 0.999999.

    Tensors that are not floats are positions, which can be computed again.
    """
    (size,) = struct.unpack("<Q", safetensors[:8])
    tensors, body = json.loads(safetensors[8 : 8 + size]), safetensors[8 + size :]
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    parts = list[bytes]()
    for name, tensor in sorted(tensors.items()):
        if tensor.get("dtype") == "F32":
            start, end = tensor["data_offsets"]
            at = sum(map(len, parts))
            parts.append(np.frombuffer(body[start:end], "<f4").astype("<f2").tobytes())
            head[name] = {"dtype": "F16", "shape": tensor["shape"], "data_offsets": [at, at + len(parts[-1])]}
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def compute_in_32_bits(config: bytes) -> bytes:
    """A model's ``config.json`` that says so: libraries would otherwise compute in the type of the file."""
    return json.dumps(json.loads(config) | {"dtype": "float32"}, indent=1).encode()


CHANGES = {"model.safetensors": halve_floats, "config.json": compute_in_32_bits}
"""What is done to a file by its name; others are copied."""


def inside(file: Path) -> Path:
    """Where a file of the repository lies in the wheel."""
    return file if file.parts[0] == PACKAGE else PACKAGE / file


def rewritten(source: str) -> str:
    """A module's source with our imports made to start at ``discorag``.

    Raises:
        ValueError: An import binds the name of a folder whose place has changed, which no rewriting can keep.
    """
    lines = source.encode().splitlines(keepends=True)
    for line, column, old, new in sorted(_edits(source), reverse=True):
        head, tail = lines[line][:column], lines[line][column:]
        if not tail.startswith(old.encode()):
            raise ValueError(f"Line {line + 1} does not read {old!r} at column {column}.")
        lines[line] = head + new.encode() + tail[len(old.encode()) :]
    return b"".join(lines).decode()


def _files(root: Path) -> Iterator[Path]:
    for folder in (PACKAGE, *MOVED, EXAMPLES):
        for path in sorted((root / folder).rglob("*")):
            file = path.relative_to(root)
            is_left_out = "__pycache__" in file.parts or any(file.is_relative_to(f) for f in LEFT_OUT)
            if path.is_file() and not is_left_out and (folder != EXAMPLES or file.suffix in EXAMPLE_SUFFIXES):
                yield file


def _edits(source: str) -> Iterator[Edit]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and _moved(node.module):
            start = re.compile(rb"from\s+").match(source.encode().splitlines()[node.lineno - 1], node.col_offset)
            assert start, f"line {node.lineno}"
            yield node.lineno - 1, start.end(), node.module, f"{PACKAGE}.{node.module}"
        elif isinstance(node, ast.Import):
            yield from (_import(alias) for alias in node.names if _moved(alias.name))


def _import(alias: ast.alias) -> Edit:
    if "." in alias.name and alias.asname is None:
        raise ValueError(f"Line {alias.lineno}: write 'from ... import ...' for {alias.name}.")
    bound = "" if alias.asname else f" as {alias.name}"
    return alias.lineno - 1, alias.col_offset, alias.name, f"{PACKAGE}.{alias.name}{bound}"


def _moved(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in MOVED


if __name__ == "__main__":
    put_models(Path(__file__).parent)
