"""The child process that converts files: ``python -m discorag.ingest.worker MEGABYTES``.

A request is a line of JSON (`Request`) and the bytes of the file; a reply is one line of JSON (`Reply`). When the
parent closes the pipe or dies, the child exits, whatever it is doing.
"""

import os
import resource
import signal
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO

from pydantic import BaseModel

from discorag.ingest.convert.converted import Converted
from discorag.ingest.loaders import read
from discorag.schema.errors import DiscoRagError

IDLE_S = 300.0
"""Seconds without a request after which a child exits."""
FILES = 500
"""Files after which a child exits: memory that its libraries do not free counts against the limit."""
OUTPUT, MEMORY, BUG = "output", "memory", "bug"
"""Errors in a reply, other than those of `discorag.schema.errors`."""
_NICENESS = 10  # questions come first


class Request(BaseModel):
    """What is to be converted, in how many seconds of processor time: ``size`` bytes follow."""

    path: str
    size: int
    max_bytes: int
    output_bytes: int
    seconds: float


class Reply(BaseModel):
    """A file as Markdown, or the class and words of an error."""

    file: Converted | None = None
    error: str = ""
    message: str = ""
    hint: str = ""


def main() -> None:
    """Answer requests in turn, until the parent leaves, none comes for long, or many were answered."""
    most = int(sys.argv[1]) * 1_000_000
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_NICENESS)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not a reply
    for request, data in islice(_requests(os.fdopen(0, "rb")), FILES):
        signal.setitimer(signal.ITIMER_PROF, request.seconds)  # the system ends a process that exceeds it: SIGPROF
        reply = answer(request, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(reply + b"\n")
        replies.flush()


def _requests(pipe: BinaryIO) -> Iterator[tuple[Request, bytes]]:
    """What the parent asks, as long as it does."""
    waiting: SimpleQueue[tuple[Request, bytes]] = SimpleQueue()
    Thread(target=_listen, args=(pipe, waiting), daemon=True).start()
    while True:
        try:
            yield waiting.get(timeout=IDLE_S)
        except Empty:
            return


def _listen(pipe: BinaryIO, waiting: SimpleQueue[tuple[Request, bytes]]) -> None:
    """Pass requests on; end the process when the pipe ends, or no room is left for a file."""
    try:
        while line := pipe.readline():
            request = Request.model_validate_json(line)
            waiting.put((request, pipe.read(request.size)))
    except MemoryError:
        os._exit(1)
    os._exit(0)


def answer(request: Request, data: bytes) -> bytes:
    """The `Reply` to a request, as JSON; never raises."""
    try:
        file = read(data, Path(request.path), max_bytes=request.max_bytes)
        is_too_long = len(file.text.encode()) > request.output_bytes
        return (Reply(error=OUTPUT) if is_too_long else Reply(file=file)).model_dump_json().encode()
    except DiscoRagError as error:
        reply = Reply(error=error.kind, message=error.message, hint=error.hint)
    except MemoryError:
        reply = Reply(error=MEMORY)
    except Exception as error:  # noqa: BLE001 - a bug of a converter costs this file only
        reply = Reply(error=BUG, message=f"{type(error).__name__}: {str(error)!a}")
    return reply.model_dump_json().encode()


if __name__ == "__main__":
    main()
