"""The prompt files, checked and loaded once; a user's own folder comes first."""

from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TypeVar

from discorag.generation.prompted.conversation import Templates
from discorag.generation.prompted.paper import PaperTemplates
from prompts import load

T = TypeVar("T", Templates, PaperTemplates)


@cache
def templates(folder: Path | None = None) -> Templates:
    """The prompts of the conversation."""
    return _load_all(Templates, folder)


@cache
def paper_templates(folder: Path | None = None) -> PaperTemplates:
    """The prompts of Disco-RAG as printed, and of its baselines."""
    return _load_all(PaperTemplates, folder, prefix="paper-")


def _load_all(kind: type[T], folder: Path | None, prefix: str = "") -> T:
    """Every field's prompt file, which is named like it."""
    return kind(**{f.name: load(prefix + f.name.replace("_", "-"), folder) for f in fields(kind)})
