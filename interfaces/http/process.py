"""What the server's process does first."""

from __future__ import annotations

import sys
import tempfile

from discorag.config import Settings
from interfaces.http.logs import log_as_json
from interfaces.http.telemetry import trace
from interfaces.http.uploads import Uploads

SWITCH_S = 0.0005
"""How long a thread may keep Python's lock while others wait: requests are short, and an ingest is not."""


def prepare_process(settings: Settings) -> None:
    """Log, trace, and keep temporary files on the disk of the uploads, in a folder that is swept at each start."""
    log_as_json(texts=settings.api.log_text, audit=settings.api.audit)
    uploads = Uploads(settings.api.uploads)
    uploads.make_spool()
    tempfile.tempdir = str(uploads.spool.resolve())
    trace(texts=settings.api.log_text)
    sys.setswitchinterval(SWITCH_S)
