"""What a process of the server does first."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from multiprocessing import parent_process
from threading import Thread

from discorag.settings import ApiSettings, Settings

SWITCH_S = 0.0005
"""How long a thread may keep Python's lock while others wait: requests are short, and an ingest is not."""


def begun(settings: Settings) -> None:
    """Log, trace, and keep temporary files where they belong; as a child, end when the parent has ended."""
    from graphs.serving.logs import log_as_json
    from graphs.serving.telemetry import trace

    log_as_json(texts=settings.api.log_text, audit=settings.api.audit)
    _spool(settings.api)
    trace(texts=settings.api.log_text)
    sys.setswitchinterval(SWITCH_S)
    if parent_process():
        Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _spool(api: ApiSettings) -> None:
    """Temporary files of this process go to the disk of the uploads, into a folder that is swept at each start."""
    from graphs.serving.uploads import Uploads

    spool = Uploads(api.uploads).spool
    spool.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(spool.resolve())
