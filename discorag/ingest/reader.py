"""Reads files for an ingest: plain text in this process, all others in child processes, within limits.

Whatever a file does to a child process, it can be stopped, and this process continues. The pools of anyio and
multiprocessing, and those built on it, do not fit: their children run the user's script once more, send pickles, which
run code, and outlive a parent that is killed while they are at work.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from signal import SIGPROF, Signals
from threading import Lock

from discorag.config import ReadingSettings
from discorag.ingest import worker
from discorag.ingest.convert.converted import Converted
from discorag.ingest.loaders import bytes_of, document_of, may_take_long, read_text
from discorag.ingest.worker import Reply, Request
from discorag.schema import errors
from discorag.schema.document import Document
from discorag.schema.errors import ConversionError, DecodingError, DiscoRagError

_PATIENCE = 5  # seconds waited for each second of processor time: children share the machine
_SECONDS, _SECONDS_PER_MB = 5, 100
"""Processor time for any file, and for its size; tables of a PDF, which cost most, take 30 s per MB."""
MEMORY_MB = 1024
"""Memory of a child process."""
_SWELLING, _LEAST_TEXT, _MOST_TEXT = 30, 200_000, 20_000_000
"""A file's text may have this many times its bytes, but any file's this many bytes, and no file's more than these."""
_SIMPLER = "Save it again, in a simpler form or in parts."


class Reader:
    """Reads files as `discorag.ingest.loaders.load` does. Child processes are started when needed, and reused.

    Calls may come from several event loops at once. Cancelling a call kills its child process.
    """

    def __init__(self, reading: ReadingSettings) -> None:
        self._seconds, self._max_bytes = reading.convert_seconds, reading.max_bytes
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._lock = Lock()

    async def read(self, path: Path) -> Document:
        """The document of a file. Raises as `convert`."""
        data = await asyncio.to_thread(bytes_of, path, max_bytes=self._max_bytes)
        if may_take_long(data, path):
            file = await self.convert(data, path)
        else:
            file = await asyncio.to_thread(read_text, data, path)
        return await asyncio.to_thread(document_of, path, data, file)

    async def convert(self, data: bytes, path: Path) -> Converted:
        """A file as Markdown; the suffix of its path says what it is.

        Raises:
            ConversionError: It takes too much time, memory or text, or the child died of it.
            DiscoRagError: As `discorag.ingest.loaders.load`.
        """
        request = Request(
            path=str(path),
            size=len(data),
            max_bytes=self._max_bytes,
            output_bytes=min(_MOST_TEXT, max(_LEAST_TEXT, _SWELLING * len(data))),
            seconds=min(self._seconds, _SECONDS + _SECONDS_PER_MB * len(data) / 1e6),
        )
        reply = None
        while reply is None:
            with self._lock:
                child = self._idle.pop() if self._idle else _Child()
                self._all.add(child)
            reply = await self._ask(child, request, data)
        if reply.file is None:
            raise _error_of(reply, request)
        return reply.file

    async def _ask(self, child: _Child, request: Request, data: bytes) -> Reply | None:
        """The child's reply; None if it had left. It is used again only if all went well."""
        well = False
        try:
            async with asyncio.timeout(_PATIENCE * self._seconds):
                reply = await asyncio.to_thread(child.ask, request, data)
            well = reply is not None and reply.error != worker.MEMORY
        except TimeoutError as error:
            longer = "" if request.seconds < self._seconds else " Or raise DISCO_RAG_READING__CONVERT_SECONDS."
            reason = f"it takes more than {request.seconds:.3g} s of processor time"
            raise _failed(request, reason, hint=_SIMPLER + longer) from error
        finally:
            with self._lock:
                if well and child in self._all:
                    self._idle.append(child)
                else:
                    self._all.discard(child)
                    child.stop()
        return reply

    def close(self) -> None:
        """Stop all child processes; the files they are converting fail."""
        with self._lock:
            for child in self._all:
                child.stop()
            self._all.clear()
            self._idle.clear()


class _Child:
    """A child process, started at its first request."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._lock = Lock()

    def ask(self, request: Request, data: bytes) -> Reply | None:
        """The reply, waited for; None if the child had left, as it does when it was long idle.

        Raises:
            TimeoutError: It used up its time.
            ConversionError: It died or was stopped.
        """
        line = b""
        process = self._start(request)
        assert process.stdin
        assert process.stdout
        with suppress(OSError, ValueError):  # it is gone, or was stopped and its pipes closed
            process.stdin.write(request.model_dump_json().encode() + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
        if line.endswith(b"\n"):
            return Reply.model_validate_json(line)
        code = process.wait()
        if self._stopped:
            raise _stop_error(request)
        if code == 0:
            return None
        if code == -SIGPROF:
            raise TimeoutError
        if code > 0:
            hint = f"See why: {' '.join(_command())}"
            raise _failed(request, f"its converter ended with exit status {code}", hint=hint)
        raise _failed(request, f"its converter died of it ({Signals(-code).name})", hint=_SIMPLER)

    def _start(self, request: Request) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise _stop_error(request)
            if self._process is None:
                self._process = subprocess.Popen(
                    _command(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    start_new_session=True,  # Ctrl-C is for this process
                )
            return self._process

    def stop(self) -> None:
        """Kill it at once."""
        with self._lock:
            self._stopped = True
            if process := self._process:
                process.kill()
                process.wait()
                for pipe in filter(None, (process.stdin, process.stdout)):
                    with suppress(OSError):  # what it did not read any more
                        pipe.close()


def _command() -> list[str]:
    return [sys.executable, "-P", "-m", worker.__name__, str(MEMORY_MB)]


def _error_of(reply: Reply, request: Request) -> DiscoRagError:
    match reply.error:
        case worker.MEMORY:
            return _failed(request, f"it takes more than {MEMORY_MB} MB of memory", hint=_SIMPLER)
        case worker.OUTPUT:
            return _failed(request, f"it has more than {request.output_bytes / 1e6:g} MB of text", hint=_SIMPLER)
        case worker.BUG:
            return DecodingError(f"{request.path} cannot be converted: {reply.message}.", hint=_SIMPLER)
        case kind:
            return getattr(errors, kind)(reply.message, hint=reply.hint)


def _failed(request: Request, reason: str, *, hint: str) -> ConversionError:
    return ConversionError(f"{request.path} cannot be converted: {reason}.", hint=hint)


def _stop_error(request: Request) -> ConversionError:
    return _failed(request, "its converter was stopped", hint="Ingest it again.")
