"""Numbers that were fitted on one model's output and are meaningless for another model."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from discorag.schema.errors import ConfigError


class Fitted(BaseModel):
    """Base of thresholds, calibrations and weights: they name the models that they were fitted on.

    Args:
        fitted_on: Version of each model by its role: ``{"reranker": "ms-marco-MiniLM-L-12-v2@1225ccd6"}``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fitted_on: dict[str, str]

    def matches(self, **versions: str) -> bool:
        """Return whether all models that the numbers were fitted on are the configured ones, given by role."""
        return all(versions.get(role) == version for role, version in self.fitted_on.items())

    def check(self, **versions: str) -> None:
        """Compare the configured models, given by role, with those that the numbers were fitted on.

        Raises:
            ConfigError: One is another, or not given.
        """
        for role, version in self.fitted_on.items():
            configured = versions.get(role)
            if configured != version:
                raise ConfigError(
                    f"These weights were fitted on the {role} {version}; "
                    + (f"the configured one is {configured}." if configured else "none is configured."),
                    hint=f"Set DISCO_RAG_{role.upper()}__* to {version.partition('@')[0]}, or fit them again "
                    "(docs/answers.md) and set DISCO_RAG_CALIBRATION.",
                )
