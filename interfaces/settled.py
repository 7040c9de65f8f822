"""The findings of a folder that its owners have settled: a file in the folder, to be committed with it.

A settled finding is recognised by its two sentences and the names of their files. It stays settled when other text is
reworded or moved, and comes back when one of its own sentences changes.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import tomlkit
from pydantic import BaseModel, Field, ValidationError
from tomlkit.exceptions import TOMLKitError

from discorag.conflicts.statements import normalise
from discorag.conflicts.verdicts import Finding, Side
from discorag.schema.errors import ConfigError, InputError
from discorag.schema.values import stable_id
from interfaces.audit import AuditReport
from interfaces.views.audit import group_findings

NAME = ".disco-rag-audit.toml"
_ABOUT = """\
Findings of `disco-rag audit` that are settled, each with the reason. Commit this file. An entry holds as long as both
sentences stay in their files; delete it to have the finding reported again."""
_SHORT = 8
"""Characters of a finding's name that are shown."""


class SettledSide(BaseModel, frozen=True, extra="forbid"):
    """A sentence and its file, relative to the folder; ``field`` as in `Side`."""

    file: str
    quote: str
    field: str = ""

    @classmethod
    def of(cls, side: Side, file: str, folder: Path) -> Self:
        """One side of a finding."""
        return cls(file=Path(os.path.relpath(file, folder)).as_posix(), quote=side.quote, field=side.field)

    @property
    def key(self) -> str:
        """The same while the words of the sentence and the name of its file are."""
        return "\n".join((self.file, normalise(self.quote), normalise(self.field)))


class SettledFinding(BaseModel, frozen=True, extra="forbid"):
    """Two sentences that may disagree, and why."""

    note: str = ""
    left: SettledSide
    right: SettledSide

    @property
    def name(self) -> str:
        """Its name, the same on every machine: eight hexadecimal digits."""
        return stable_id(*sorted((self.left.key, self.right.key)))[:_SHORT]


class SettledFile(BaseModel, frozen=True, extra="forbid"):
    """The content of a folder's `NAME`."""

    settled: tuple[SettledFinding, ...] = Field(default=())

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The file of a folder; empty if there is none.

        Raises:
            ConfigError: It cannot be read, or holds something else.
        """
        file = folder / NAME
        try:
            return cls.model_validate(tomlkit.parse(file.read_text("utf-8")).unwrap()) if file.is_file() else cls()
        except (OSError, ValueError, TOMLKitError) as error:
            message = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
            raise ConfigError(
                f"{file} cannot be read: {message}.", hint="Correct it, or restore it from git."
            ) from error

    def write(self, folder: Path) -> None:
        """Write it into a folder, entries ordered by their files. Raises `ConfigError` if that fails."""
        document = tomlkit.document()
        for line in _ABOUT.splitlines():
            document.add(tomlkit.comment(line))
        ordered = sorted(self.settled, key=lambda s: (s.left.key, s.right.key))
        document.add("settled", tomlkit.item([s.model_dump(exclude_defaults=True) for s in ordered]))
        try:
            (folder / NAME).write_text(tomlkit.dumps(document), "utf-8")
        except OSError as error:
            raise ConfigError(f"{folder / NAME} cannot be written: {error}.") from error


class FolderAudit:
    """An audit's report together with what is settled in a folder.

    Args:
        report: The report.
        folder: The audited folder, which has the file of what is settled; a file's own folder will do.
    """

    def __init__(self, report: AuditReport, folder: Path) -> None:
        self._report, self._folder = report, folder
        files = {d.doc_id: d.uri for d in report.documents}
        self._entries = {f.id: _entry(f, files, folder) for f in report.findings}
        self._settled = {s.name: s for s in SettledFile.read(folder).settled}

    @property
    def report(self) -> AuditReport:
        """The report, in which the folder's settled findings are settled, and findings have portable names."""
        names = {i: entry.name for i, entry in self._entries.items()}
        notes = {i: self._settled[name].note for i, name in names.items() if name in self._settled}
        return self._report.model_copy(update={"settled": self._report.settled | notes, "names": names})

    @property
    def outdated(self) -> int:
        """How many settled findings no longer exist."""
        return len(self._settled.keys() - {entry.name for entry in self._entries.values()})

    def settle(self, names: Sequence[str], note: str) -> None:
        """Settle open findings by name, each with those that come from the same change.

        Raises:
            InputError: There is no open finding of such a name.
        """
        groups = group_findings(self.report.open)
        for name in names:
            found = [f for group in groups if self._entries[group[0].id].name == name for f in group]
            if not found:
                raise InputError(f"There is no open finding {name!r}.", hint="The audit prints the name of each.")
            self._add(found, note)
        self._write()

    def settle_all(self, note: str) -> None:
        """Settle all open findings, and forget the settled ones that no longer exist."""
        known = {entry.name for entry in self._entries.values()}
        self._settled = {name: s for name, s in self._settled.items() if name in known}
        self._add(self.report.open, note)
        self._write()

    def _add(self, findings: Iterable[Finding], note: str) -> None:
        entries = (self._entries[f.id] for f in findings)
        self._settled |= {e.name: e.model_copy(update={"note": note}) for e in entries}

    def _write(self) -> None:
        SettledFile(settled=tuple(self._settled.values())).write(self._folder)


def _entry(finding: Finding, files: Mapping[str, str], folder: Path) -> SettledFinding:
    left, right = (SettledSide.of(side, files[side.doc_id], folder) for side in (finding.left, finding.right))
    return SettledFinding(left=left, right=right)
