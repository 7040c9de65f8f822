"""Make the secrets that docker-compose.yml mounts; those that are there are kept.

A container sees a mounted file with the owner and mode that it has here, and reads it as another user. So everybody may
read the files, but only their owner may enter the folder, which a container does not pass through. Needs only Python.
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe

FOLDER = Path("secrets")
_ROLES = {"client": '"read", "write"', "metrics": '"operate"'}
"""Who gets a key of the API, and its roles; the key itself is in the file NAME_key, which no container sees."""


def make(folder: Path) -> list[str]:
    """Make what is missing in ``folder``, which is made if it is not there.

    Returns:
        Names of the new files.
    """
    folder.mkdir(exist_ok=True)
    folder.chmod(0o700)
    names = ["qdrant_api_key", "vllm_api_key", "hf_token"]
    if not (folder / "api_keys.toml").exists():
        names += [f"{name}_key" for name in _ROLES] + ["api_keys.toml"]
    return [name for name in names if _made(folder, name)]


def _made(folder: Path, name: str) -> bool:
    path = folder / name
    if path.exists():
        return False
    path.write_text(_content(folder, name), encoding="utf-8")
    path.chmod(0o644)
    return True


def _content(folder: Path, name: str) -> str:
    if name == "hf_token":
        return ""  # for models behind a licence; the owner fills it in
    if name == "api_keys.toml":
        return "\n".join(_entry(folder, client, roles) for client, roles in _ROLES.items())
    return token_urlsafe(32)


def _entry(folder: Path, name: str, roles: str) -> str:
    digest = sha256((folder / f"{name}_key").read_bytes().strip()).hexdigest()
    return f'[[key]]\nname = "{name}"\ntenant = "default"\nroles = [{roles}]\nsha256 = "{digest}"\n'


if __name__ == "__main__":
    made = make(FOLDER)
    sys.stdout.write(f"Made in {FOLDER}/: {', '.join(made)}.\n" if made else f"{FOLDER}/ has all secrets.\n")
