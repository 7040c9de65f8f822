"""Optional packages: the extras of the distribution."""

from collections.abc import Generator
from contextlib import contextmanager

from discorag.schema.errors import ConfigError

OURS = frozenset({"discorag", "eval", "graphs", "interfaces", "nodes", "prompts"})


@contextmanager
def extra(name: str) -> Generator[None]:
    """Put this around imports that need the extra ``name``: if a package is missing, the error says what to install.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:  # also when the version of a distribution is asked that is not there
        if (error.name or "").partition(".")[0] in OURS:
            raise
        hint = f'Run: pip install "disco-rag[{name}]".'
        raise ConfigError(f"{error.name} is not installed.", hint=hint) from error
