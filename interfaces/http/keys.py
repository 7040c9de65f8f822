"""The file of keys: whose each is, what for and until when, and what a tenant may have.

It is read again when its content changes. Replace it as a whole: write another file and rename it, so that no half of
it is ever read.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from pathlib import Path
from time import monotonic

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discorag.schema.errors import ConfigError

CHECKED_S = 1.0
"""How often the file is looked at, in seconds, at most."""
_HINT = "disco-rag key NAME prints an entry."
_log = structlog.get_logger("disco_rag.api")


class Role(StrEnum):
    """What a key is for."""

    READ = "read"  # ask, and look at documents and trees
    WRITE = "write"  # ingest and delete
    OPERATE = "operate"  # metrics, backups


class Principal(BaseModel):
    """Who asks: the key's name, for logs; the tenant, to which everything is limited; and its roles."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    tenant: str = Field(min_length=1)
    roles: frozenset[Role]


class Key(Principal):
    """An entry of the file; the key is refused from the day ``expires`` on (UTC)."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    expires: date | None = None


class Allowance(BaseModel):
    """What a tenant may have in the place of what `discorag.config.QuotaSettings` says; None: as that says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    documents: int | None = Field(default=None, ge=0)
    storage_mb: float | None = Field(default=None, ge=0)
    jobs: int | None = Field(default=None, ge=0)
    questions_per_minute: int | None = Field(default=None, ge=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: list[Key] = []
    tenant: list[Allowance] = []


@dataclass(frozen=True)
class Keys:
    """What the file says: keys by digest (SHA-256, hexadecimal), tenants by name."""

    keys: Mapping[str, Key]
    tenants: Mapping[str, Allowance] = field(default_factory=dict[str, Allowance])


class KeyFile:
    """The keys as the file has them now. A file that cannot be read or parsed changes nothing, and is logged once.

    Raises:
        ConfigError: It cannot be read, or holds no key.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._checked = file, monotonic()
        self._content = _content(file)
        self._keys = _parse(self._content, file)
        if not self._keys.keys:
            raise ConfigError(f"There is no key in {file}.", hint=_HINT)

    def now(self) -> Keys:
        """The keys; a file that was emptied has none, and lets nobody in."""
        if monotonic() - self._checked >= CHECKED_S:
            self._checked = monotonic()
            if (content := _content(self._file)) != self._content:
                self._content = content
                self._read(content)
        return self._keys

    def _read(self, content: bytes | None) -> None:
        try:
            self._keys = _parse(content, self._file)
        except ConfigError as error:
            _log.warning("the file of keys is ignored; the keys are as before", reason=str(error))
        else:
            _log.info("keys read", keys=len(self._keys.keys))


def new_key(name: str, tenant: str, roles: Sequence[Role], expires: date | None = None) -> tuple[str, str]:
    """A fresh key, and its entry for the file of keys, which does not hold the key itself."""
    key = f"dr-{secrets.token_urlsafe(32)}"
    listed = ", ".join(f'"{role}"' for role in roles)
    lines = [f"name = {_quoted(name)}", f"tenant = {_quoted(tenant)}", f"roles = [{listed}]"]
    lines += [f"expires = {expires.isoformat()}"] if expires else []
    return key, "\n".join(["[[key]]", *lines, f'sha256 = "{digest_of(key)}"', ""])


def digest_of(key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _content(file: Path) -> bytes | None:
    """What the file holds; None if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def _parse(content: bytes | None, file: Path) -> Keys:
    if content is None:
        raise ConfigError(f"The file of keys {file} cannot be read.", hint="Check its path and who may read it.")
    try:
        found = _File.model_validate(tomllib.loads(content.decode()))
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"Keys in {file}: {said}.", hint=_HINT) from error
    except ValueError as error:
        raise ConfigError(f"The file of keys {file} cannot be read: {error}.", hint=_HINT) from error
    keys, tenants = {k.sha256: k for k in found.key}, {t.name: t for t in found.tenant}
    if len({k.name for k in found.key}) < len(found.key):
        raise ConfigError(f"Two keys in {file} have the same name.", hint="A key's name is its own.")
    if len(keys) < len(found.key):
        raise ConfigError(f"Two entries in {file} are for the same key.", hint=_HINT)
    if len(tenants) < len(found.tenant):
        raise ConfigError(f"Two entries in {file} are for the same tenant.", hint="Make them one.")
    return Keys(keys, tenants)
