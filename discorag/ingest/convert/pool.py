"""Converters in child processes: whatever a file does to one, the child can be stopped and this process continues.

The pools of anyio and multiprocessing, and those built on it, were no fit: their children run the user's script once
more, send pickles, which run code, and outlive a parent that is killed while they are at work.
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
from discorag.ingest.convert import worker
from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.worker import Reply, Request
from discorag.schema import errors
from discorag.schema.errors import ConversionError, ConversionLimitError, ConverterDiedError, DecodingError

_PATIENCE = 5  # seconds waited for each second of processor time: children share the machine
_SECONDS, _SECONDS_PER_MB = 5, 100
"""Processor time for any file, and for its size; tables of a PDF, which cost most, take 30 s per MB."""
_SWELLING, _ALWAYS = 30, 200_000
"""Limits of a file's text: this many times its bytes, and for short files at least this many bytes."""


class Converters:
    """Child processes that convert files, within limits; started when they are needed, and reused.

    Calls may come from several event loops at once. Cancelling a call kills its child process.
    """

    def __init__(self, reading: ReadingSettings) -> None:
        self._reading = reading
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._lock = Lock()

    async def convert(self, data: bytes, path: Path) -> Converted:
        """A file as Markdown; the suffix of its path says what it is.

        Raises:
            ConversionLimitError: It takes more time, memory or text than the settings allow.
            ConverterDiedError: The child died of it.
            DiscoRagError: As `discorag.ingest.loaders.load`.
        """
        request = Request(
            path=str(path),
            size=len(data),
            max_bytes=self._reading.max_bytes,
            output_bytes=min(self._reading.output_bytes, max(_ALWAYS, _SWELLING * len(data))),
            seconds=min(self._reading.convert_seconds, _seconds_for(len(data))),
        )
        reply = None
        while reply is None:
            with self._lock:
                child = self._idle.pop() if self._idle else _Child(self._reading.convert_mb)
                self._all.add(child)
            reply = await self._ask(child, request, data)
        return _read_reply(reply, request, self._reading)

    async def _ask(self, child: _Child, request: Request, data: bytes) -> Reply | None:
        """The child's reply; None if it had left. It is used again only if all went well."""
        well = False
        try:
            async with asyncio.timeout(_PATIENCE * self._reading.convert_seconds):
                reply = await asyncio.to_thread(child.ask, request, data)
            well = reply is not None and reply.error != worker.MEMORY
        except TimeoutError as error:
            raise _too_slow(request) from error
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

    def __enter__(self) -> Converters:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Child:
    """A child process, started at its first request."""

    def __init__(self, megabytes: int) -> None:
        self._command = [sys.executable, "-P", "-m", worker.__name__, str(megabytes)]
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = self._stopped = False
        self._lock = Lock()

    def ask(self, request: Request, data: bytes) -> Reply | None:
        """The reply, waited for; None if the child had left, as it does when it was long idle.

        Raises:
            ConversionLimitError: It used up its time.
            ConverterDiedError: It died.
            ConversionError: It was stopped, or did not start.
        """
        line = b""
        process = self._start(request)
        assert process.stdin
        assert process.stdout
        with suppress(OSError, ValueError):  # it is gone, or was stopped and its pipes closed
            self._ready = self._ready or process.stdout.readline() == worker.READY
            process.stdin.write(request.model_dump_json().encode() + b"\n" + data)
            process.stdin.flush()
            line = process.stdout.readline()
        if line.endswith(b"\n"):
            return Reply.model_validate_json(line)
        code = process.wait()
        cause = Signals(-code).name if code < 0 else f"exit status {code}"
        if self._stopped:
            raise _stop_error(request)
        if not self._ready:
            hint = f"See why: {sys.executable} -P -m {worker.__name__} 1024"
            raise ConversionError(request.path, f"its converter did not start ({cause})", hint=hint)
        if code == 0:
            return None
        if code == -SIGPROF:
            raise _too_slow(request)
        hint = "Open it and save it again, or print it to a new PDF."
        raise ConverterDiedError(request.path, f"its converter died of it ({cause})", hint=hint)

    def _start(self, request: Request) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise _stop_error(request)
            if self._process is None:
                self._process = subprocess.Popen(
                    self._command,
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


def _read_reply(reply: Reply, request: Request, reading: ReadingSettings) -> Converted:
    path = request.path
    if reply.file is not None:
        return reply.file
    match reply.error:
        case worker.MEMORY:
            raise _limit(path, f"it takes more than {reading.convert_mb} MB of memory", "CONVERT_MB")
        case worker.OUTPUT if request.output_bytes < reading.output_bytes:
            reason = f"it swells to more than {request.output_bytes / 1e6:g} MB of text"
            raise ConversionLimitError(path, reason, hint="Save it again, as plain text if necessary.")
        case worker.OUTPUT:
            raise _limit(path, f"it has more than {reading.convert_output_mb:g} MB of text", "CONVERT_OUTPUT_MB")
        case worker.BUG:
            raise DecodingError(
                f"{path} cannot be converted: {reply.message}.", hint="Save it again, in a simpler form if necessary."
            )
        case kind:
            raise getattr(errors, kind)(reply.message, hint=reply.hint)


def _limit(path: Path | str, reason: str, setting: str) -> ConversionLimitError:
    return ConversionLimitError(
        path, reason, hint=f"Split or simplify the file, or raise DISCO_RAG_READING__{setting}."
    )


def _seconds_for(size: int) -> float:
    return _SECONDS + _SECONDS_PER_MB * size / 1e6


def _too_slow(request: Request) -> ConversionLimitError:
    reason = f"it takes more than {request.seconds:.3g} s of processor time"
    if request.seconds == _seconds_for(request.size):
        hint = "Save it again, in a simpler form or in parts."
        return ConversionLimitError(request.path, f"{reason}, which is too much for its size", hint=hint)
    return _limit(request.path, reason, "CONVERT_SECONDS")


def _stop_error(request: Request) -> ConversionError:
    return ConversionError(request.path, "its converter was stopped", hint="Ingest it again.")
