"""Which files of a git repository changed since a commit."""

import subprocess
from pathlib import Path

from discorag.schema.errors import InputError


def files_changed_since(ref: str, folder: Path) -> frozenset[str]:
    """The files of a folder's repository that differ from where its branch left ``ref``, or are new; absolute paths.

    Raises:
        InputError: The folder is in no repository, or has no such commit, or git is missing.
    """
    root = Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    commit = _git(folder, "rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}").strip()
    base = _git(folder, "merge-base", commit, "HEAD").strip()
    changed = _git(root, "diff", "--name-only", "--no-renames", "-z", base)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return frozenset((root / name).resolve().as_posix() for name in (changed + new).split("\0") if name)


def _git(folder: Path, *arguments: str) -> str:
    """What git prints. Raises `InputError` with what it complains of."""
    command = ("git", "-C", str(folder), *arguments)
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True, errors="surrogateescape").stdout
    except FileNotFoundError as error:
        raise InputError("git is not installed.", hint="Leave --changed-since out.") from error
    except subprocess.CalledProcessError as error:
        message = " ".join(error.stderr.split()) or "there is no commit that both have"
        hint = "In a workflow, check out all commits (fetch-depth: 0)."
        raise InputError(f"git {arguments[0]} failed: {message}.", hint=hint) from error
