"""The product as its users run it, in processes of its own over a store of the experiment's."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.promises import ROOT

PATIENCE_S = 300.0
PROGRAM = (sys.executable, "-c", "from interfaces.cli.main import main; main()")
_QUIET = {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "passive"}
_CRASHES = frozenset({132, 133, 134, 135, 136, 139})
"""What a shell says of a process that a signal ended; 135 is SIGBUS."""


@dataclass(frozen=True)
class Ended:
    """A command that ended: its exit code (minus the signal that ended it) and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def crashed(self) -> bool:
        """Whether it ended by a signal or with a traceback, and not by an error that it reports."""
        return self.code < 0 or self.code in _CRASHES or "Traceback (most recent call last)" in self.err


def environment(store: Path, settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment of a process over this store, without the user's settings; ``settings`` come without their prefix."""
    own = {"STORE__PATH": str(store)} | dict(settings or {})
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DISCO_RAG_")}
    return kept | {f"DISCO_RAG_{k}": v for k, v in own.items()} | _QUIET


def run_python(store: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> Ended:
    """Run Python with these arguments over the store, next to which it works; ``settings`` as for `environment`."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=store.parent,
        env=environment(store, settings),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def command(store: Path, *arguments: str) -> Ended:
    """Run ``disco-rag`` with these arguments over the store."""
    return run_python(store, *PROGRAM[1:], *arguments)


def write_texts(folder: Path, count: int, revision: int = 0) -> list[Path]:
    """So many of the repository's example texts as files; the second third changes with every revision."""
    files = sorted(file for file in (ROOT / "examples").glob("[!_z]*/*") if file.suffix in (".md", ".txt"))
    found = [(f"{file.parent.name}-{file.name}", file.read_text("utf-8")) for file in files]
    short = [(name, text) for name, text in found if len(text) < 5000][:count]
    folder.mkdir(parents=True, exist_ok=True)
    for at, (name, text) in enumerate(short):
        changed = f"{text.rstrip()}\n\nRevision {revision} of {name} is this one.\n" if revision and at % 3 else text
        (folder / name).write_text(changed, encoding="utf-8")
    return [folder / name for name, _ in short]
