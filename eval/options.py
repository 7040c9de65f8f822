"""Where the data is, and the judge, as the command line is told."""

import os
from pathlib import Path

from pydantic import SecretStr

from discorag.config import DATA_VARIABLE, LlmSettings
from discorag.models.gateway import Gateway
from discorag.schema.errors import ConfigError, MissingPathError

BESIDE = Path("../shared/data")
"""Where the data is looked for when the variable is not set."""


def find_data() -> Path | None:
    """The folder of the datasets, if there is one."""
    folder = Path(os.environ.get(DATA_VARIABLE, BESIDE))
    return folder if folder.is_dir() else None


def data_folder() -> Path:
    """The folder of the datasets. Raises `MissingPathError` if there is none."""
    if found := find_data():
        return found
    folder = os.environ.get(DATA_VARIABLE, BESIDE)
    raise MissingPathError(f"{folder} is not a folder.", hint=f"Set {DATA_VARIABLE} to the folder of the datasets.")


def open_judge(url: str | None, model: str, key: str, cache: Path) -> Gateway | None:
    """The judge at an endpoint, if one is given. Raises `ConfigError` if the variable ``key`` is named and empty."""
    if not url:
        return None
    secret = os.environ.get(key, "") if key else ""
    if key and not secret:
        raise ConfigError(f"{key} is not set.", hint="Name the environment variable that holds the judge's key.")
    return Gateway(LlmSettings(base_url=url, model=model, api_key=SecretStr(secret) if secret else None, cache=cache))
