"""Prompt files and their checking loader.

One Markdown file per prompt: YAML front matter (``name``, ``version``, ``variables``, ``output``), then the text of
one turn with ``{{variable}}`` placeholders. The loader refuses a file whose placeholders and variables differ.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import frontmatter
from pydantic import BaseModel, ConfigDict, ValidationError

_FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class PromptError(ValueError):
    """A prompt file is missing or malformed, or is rendered with the wrong variables."""


class FrontMatter(BaseModel):
    """What stands above the text of a prompt file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: int
    variables: tuple[str, ...] = ()
    output: Literal["text", "json", "none"]


@dataclass(frozen=True)
class Prompt:
    """A checked prompt: its front matter, its text, and the digest of both."""

    meta: FrontMatter
    text: str
    hash: str

    def render(self, **variables: str) -> str:
        """The text with every variable put in, in one pass: a value is never searched for placeholders.

        Raises:
            PromptError: A variable is missing or unknown.
        """
        if set(variables) != set(self.meta.variables):
            raise PromptError(f"Prompt {self.meta.name} takes {sorted(self.meta.variables)}, got {sorted(variables)}.")
        return _PLACEHOLDER.sub(lambda m: variables[m[1]], self.text)


@cache
def load(name: str) -> Prompt:
    """The prompt in ``prompts/<name>.md``.

    Raises:
        PromptError: No such file, bad front matter, or placeholders that differ from the variables it names.
    """
    path = _FOLDER / f"{name}.md"
    if not path.is_file():
        raise PromptError(f"No prompt named {name!r}; there are {', '.join(names())}.")
    return parse(name, path.read_text(encoding="utf-8"))


def parse(name: str, source: str) -> Prompt:
    """Check and build a prompt from the text of its file.

    Raises:
        PromptError: See `load`.
    """
    post = frontmatter.loads(source)
    try:
        meta = FrontMatter.model_validate(post.metadata)
    except ValidationError as error:
        raise PromptError(f"Front matter of prompt {name}: {error}") from error
    found = set(_PLACEHOLDER.findall(post.content))
    if meta.name != name or found != set(meta.variables):
        raise PromptError(f"Prompt {name}: name {meta.name!r}, placeholders {sorted(found)}, {sorted(meta.variables)}.")
    return Prompt(meta=meta, text=post.content.strip(), hash=hashlib.sha256(source.encode()).hexdigest()[:16])


def names() -> tuple[str, ...]:
    """All prompt files, by name."""
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.md")))
