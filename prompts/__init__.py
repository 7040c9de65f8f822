"""Prompt files and their checking loader.

One Markdown file per prompt: YAML front matter (``name``, ``version``, ``variables``, ``output``), then the text of
one turn with ``{{variable}}`` placeholders. The loader refuses a file whose placeholders and variables differ.

A user's own folder may hold files of the same names in other words, such as those of the papers. Each must take the
same variables, and ask for the same form of output.
"""

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
    """The fields above the text of a prompt file."""

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
def load(name: str, folder: Path | None = None) -> Prompt:
    """The prompt ``<name>.md`` from a user's ``folder`` if it is there, otherwise the packaged one.

    Raises:
        PromptError: No prompt has this name, its front matter is not valid, or its placeholders are not its variables.
            Or a user's file has other variables or another output than the packaged prompt.
    """
    if name not in names():
        raise PromptError(f"No prompt is named {name!r}; there are {', '.join(names())}.")
    ours = parse(name, (_FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    own = folder / f"{name}.md" if folder else None
    if own is None or not own.is_file():
        return ours
    theirs = parse(name, own.read_text(encoding="utf-8"))
    for what, a, b in (
        ("variables", sorted(theirs.meta.variables), sorted(ours.meta.variables)),
        ("output", theirs.meta.output, ours.meta.output),
    ):
        if a != b:
            raise PromptError(f"{own}: {what} must be {b}, as in our {name}.md; they are {a}.")
    return theirs


def check(folder: Path) -> None:
    """Check that all prompt files of a user's folder can be used. Raises `PromptError`, see `load`."""
    files = sorted(folder.glob("*.md"))
    if not files:
        raise PromptError(f"{folder} holds no prompt files (*.md).")
    for file in files:
        load(file.stem, folder)


def parse(name: str, source: str) -> Prompt:
    """Check and build a prompt from the text of its file.

    Raises:
        PromptError: See `load`.
    """
    post = frontmatter.loads(source)
    try:
        meta = FrontMatter.model_validate(post.metadata)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PromptError(f"Front matter of prompt {name}: {wrong}.") from error
    found = set(_PLACEHOLDER.findall(post.content))
    if meta.name != name or found != set(meta.variables):
        raise PromptError(f"Prompt {name}: name {meta.name!r}, placeholders {sorted(found)}, {sorted(meta.variables)}.")
    return Prompt(meta=meta, text=post.content.strip(), hash=hashlib.sha256(source.encode()).hexdigest()[:16])


@cache
def names() -> tuple[str, ...]:
    """The names of all prompts."""
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.md")))
