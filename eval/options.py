"""What the command line may be given beside a suite: where the data is, and models for metrics."""

from __future__ import annotations

import os
from pathlib import Path

from discorag.errors import MissingPathError
from discorag.models.gateway import Gateway
from discorag.settings import DATA_VARIABLE, LlmSettings
from eval.metrics.base import MetricModels

BESIDE = Path("../shared/data")
"""Where the data is looked for when the variable is not set."""


def data_folder() -> Path:
    """The folder of the datasets. Raises `MissingPathError` if there is none."""
    folder = Path(os.environ.get(DATA_VARIABLE, BESIDE))
    if not folder.is_dir():
        raise MissingPathError(f"{folder} is no folder.", hint=f"Set {DATA_VARIABLE} to the folder of the datasets.")
    return folder


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
