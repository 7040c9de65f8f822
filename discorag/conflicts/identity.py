"""Who and when a document speaks for: its entity, period, date, version and status.

Read from front matter first (keys of `FIELDS`; a sidecar file adds to it), then from the file's path, the title and the
first lines. What is not found stays empty, and an empty field never separates two documents.
"""

import re
from collections.abc import Mapping
from pathlib import PurePath

from pydantic import BaseModel

from discorag.schema.metadata import Value, as_words

FIELDS = ("entity", "period", "date", "version", "status")
_HEAD = 3000
"""Characters of a document that are read as its cover."""
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE = rf"(?:\d{{4}}-\d\d-\d\d|{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}} {_MONTH} \d{{4}})"
_PERIOD = re.compile(
    rf"(?:fiscal |financial )?(?:year|quarter|quarterly period|(?:three|six|nine|twelve) months) ended:? ({_DATE})"
    r"|\b((?:FY|Q[1-4]|H[12]) ?'?(?:20)?\d\d)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_VERSION = re.compile(r"(?<![\w.])(?:v|(?=\d+\.\d))(\d+(?:\.\d+){0,3})(?![\w%]|\.\d)", re.IGNORECASE)
_RELEASE = re.compile(r"([A-Za-z][\w+-]*?)[-_]v?(\d+(?:\.\d+)+)[\w.-]*")
"""A folder such as "celery-5.4.0": whose release the files in it are."""
_STATED_VERSION = re.compile(
    r"^\W*(?:version|release)\W{1,3}v?(\d+(?:\.\d+)+|\d+(?=,|\W*$))", re.IGNORECASE | re.MULTILINE
)
_STATED_DATE = re.compile(
    r"\b(?:date|dated|effective|effective date|last updated|updated|issued|published)\b\W{0,4}(?:on |from |as of )?"
    rf"({_DATE})",
    re.IGNORECASE,
)
_STATUSES = r"(draft|superseded|withdrawn|obsolete|deprecated|archived)"
_STATUS = re.compile(rf"[(\[]{_STATUSES}[)\]]|(?:^|[-–—_]) *{_STATUSES}[-_ v\d.]*$", re.IGNORECASE | re.MULTILINE)
"""In brackets, after a dash, or alone: a page "Deprecated features" is not itself deprecated."""
_REGISTRANT = re.compile(r"^\W*(\S.{2,80}?)\W*\n+\W*\(?exact name of (?:the )?registrant", re.IGNORECASE | re.MULTILINE)


class DocumentIdentity(BaseModel, frozen=True):
    """Who and when a document speaks for. Empty fields are not known.

    Args:
        entity: The company, product, person or place that its statements are about.
        period: The year, quarter or other period that it reports on.
        date: When it was written or takes effect, as written.
        version: The version of the document or product, without "v".
        status: ``draft``, ``superseded``, ``withdrawn``, ``obsolete``, ``deprecated`` or ``archived``.
    """

    entity: str = ""
    period: str = ""
    date: str = ""
    version: str = ""
    status: str = ""

    def __str__(self) -> str:
        parts = (self.entity, self.period, self.version and f"version {self.version}", self.date, self.status)
        return ", ".join(part for part in parts if part)


def identify_document(uri: str, title: str, text: str, metadata: Mapping[str, Value]) -> DocumentIdentity:
    """Read a document's identity from its metadata, path, title and first lines."""
    head, path = text[:_HEAD], PurePath(uri)
    folders, name = path.parts[-2::-1], f"{title}\n{path.stem.replace('_', ' ')}"
    release = next(filter(None, map(_RELEASE.fullmatch, folders)), None)
    registrant = _REGISTRANT.search(head) if "exact name" in head.casefold() else None  # the pattern is slow
    period = _PERIOD.search(f"{name}\n{head}")
    version = (
        _VERSION.search(name) or next(filter(None, map(_VERSION.search, folders)), None) or _STATED_VERSION.search(head)
    )
    year, date, status = _YEAR.search(name), _STATED_DATE.search(head), _STATUS.search(f"{title}\n{path.stem}")
    found = {
        "entity": registrant[1] if registrant else release[1] if release else "",
        "period": (period[1] or period[2]) if period else year[1] if year else "",
        "version": release[2] if release else version[1] if version else "",
        "date": date[1] if date else "",
        "status": (status[1] or status[2]).casefold() if status else "",
    }
    found |= {key: words for key in FIELDS if (words := as_words(metadata.get(key, "")))}
    return DocumentIdentity(**found | {"version": re.sub(r"^[vV](?=\d)", "", found["version"])})
