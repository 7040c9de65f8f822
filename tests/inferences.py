"""Inference by ONNX Runtime that is made once in a test run: most tests ask the same models the same things."""

import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discorag.discourse.parse.trained import network
from discorag.models import cross_encoder, encoder
from discorag.models.packaged import open_session

_READING = Lock()
"""Held while an array is read: its header is parsed as Python, which fails in CPython 3.11 if several threads do so."""


class Session:
    """A graph whose results are kept in a folder, which the processes of a test run share.

    A result depends on nothing but the graph, its weights and the input; their digest is its file's name.

    Args:
        session: The session of ONNX Runtime.
        name: The digest of the graph and its weights.
        kept: The folder.
    """

    def __init__(self, session: Any, name: bytes, kept: Path) -> None:
        self._session, self._name, self._kept = session, name, kept

    def get_inputs(self) -> Any:
        """The graph's inputs."""
        return self._session.get_inputs()

    def run(self, outputs: None, given: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """All outputs."""
        key = blake2b(self._name, digest_size=16)
        for name, values in sorted(given.items()):
            key.update(f"{name} {values.dtype} {values.shape}".encode())
            key.update(values.tobytes())
        file = self._kept / key.hexdigest()
        try:
            with _READING, np.load(file, allow_pickle=False) as stored:
                return [stored[name] for name in stored.files]
        except FileNotFoundError:
            found = self._session.run(outputs, given)
        with tempfile.NamedTemporaryFile(dir=self._kept, delete=False) as written:
            np.savez(written, *found)
        Path(written.name).replace(file)  # others see all of it or nothing
        return found


@contextmanager
def made_once(kept: Path) -> Generator[None]:
    """While this is open, models are loaded once in this process, and their results are kept in the folder."""
    kept.mkdir(exist_ok=True)
    loaded: dict[bytes, Session] = {}
    lock = Lock()

    def opened(graph: Path, *, threads: int = 1, weights: Path | None = None) -> Session:
        name = blake2b(graph.read_bytes() + str(weights).encode()).digest()
        with lock:
            if name not in loaded:
                loaded[name] = Session(open_session(graph, threads=threads, weights=weights), name, kept)
            return loaded[name]

    with pytest.MonkeyPatch.context() as patch:
        for module in (cross_encoder, encoder, network):
            patch.setattr(module, "open_session", opened)
        yield
