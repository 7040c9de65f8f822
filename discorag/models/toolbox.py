"""What the factories of registered parts may use: the settings, models and prompts of the pipeline."""

from typing import Protocol

from discorag.config import Role, Settings
from discorag.models.protocol import Encoder, LanguageModel, Template, TreeParser
from discorag.models.reranker import Reranker


class Toolbox(Protocol):
    """Handed to every factory of a registry; `nodes.backends.Backends` is one."""

    @property
    def settings(self) -> Settings:
        """What is configured."""
        ...

    @property
    def encoder(self) -> Encoder:
        """The configured encoder, with a cache."""
        ...

    @property
    def reranker(self) -> Reranker:
        """The configured reranker; a model in this process is loaded at its first use."""
        ...

    def model_for(self, role: Role) -> LanguageModel | None:
        """The language model that plays a role, None if none is configured."""
        ...

    def require_model(self, role: Role = "reader") -> LanguageModel:
        """The language model that plays a role. Raises `ConfigError` if none is configured."""
        ...

    def parser(self, name: str) -> TreeParser:
        """The parser of this name, for one that builds on another. Raises `UnknownNameError`, `ConfigError`."""
        ...

    def template(self, name: str) -> Template:
        """The prompt file of this name."""
        ...
