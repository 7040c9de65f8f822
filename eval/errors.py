"""Errors of the evaluation, under the core's tree."""

from pydantic import ValidationError

from discorag.schema.errors import ConfigError, DiscoRagError, InputError


class DataError(InputError):
    """A data file is not what its loader reads: cut off, a field renamed, an id repeated, a document missing."""


class RunLockedError(DiscoRagError):
    """Another process writes into the run's folder."""


class BudgetSpentError(DiscoRagError):
    """A limit of calls or tokens is reached. What was answered is recorded; the run can be resumed."""


class MetricUnavailableError(ConfigError):
    """A metric needs a model that is not at hand. The metric is reported as missing; it never becomes zero."""


class NotScorableError(InputError):
    """One answer cannot be scored (a judge wrote prose, say). It is counted, and left out of the mean."""


def first_error(error: ValidationError) -> str:
    """The first wrong field and what is wrong with it."""
    first = error.errors()[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), f"{first['msg']}.")))
