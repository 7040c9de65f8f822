"""What the command line may be given beside a suite: where the data is, and models for metrics."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import SecretStr

from discorag.config import DATA_VARIABLE, LlmSettings
from discorag.models.gateway import Gateway
from discorag.schema.errors import ConfigError, MissingPathError
from eval.metrics.base import MetricModels

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
    raise MissingPathError(f"{folder} is no folder.", hint=f"Set {DATA_VARIABLE} to the folder of the datasets.")


def judge_settings(url: str, model: str, key: str, cache: Path) -> LlmSettings:
    """The judge's endpoint. Raises `ConfigError` if the variable ``key`` is named and empty."""
    secret = os.environ.get(key, "") if key else ""
    if key and not secret:
        raise ConfigError(f"{key} is not set.", hint="Name the environment variable that holds the judge's key.")
    return LlmSettings(base_url=url, model=model, api_key=SecretStr(secret) if secret else None, cache=cache)


def metric_models(
    judge: LlmSettings | None,
    judge_prompt: Path | None,
    *,
    reader: Path | None = None,
    bertscore: Path | None = None,
    summac: Path | None = None,
) -> MetricModels:
    """The models that the caller has, see `MetricModels`."""
    return MetricModels(
        judge=Gateway(judge) if judge else None,
        judge_prompt=judge_prompt,
        reader=reader,
        bertscore=bertscore,
        summac=summac,
    )
