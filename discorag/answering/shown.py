"""The pieces of an answer while it is streamed, with citations in the form that we read."""

import re
from collections.abc import Sequence
from contextlib import suppress

from discorag.text.citation_forms import cited_in_brackets, has_citation
from discorag.text.replies import prose_in, without_fences

_BEGINS = re.compile(
    r"\s*[|<&`\[【［〔⟦(（{^*\\⁰¹²³⁴-⁹][^\n]{0,40}\Z|\n\W*\w{0,12}\Z|\n\W*(?i:sources?|references?|quellen)\W*[:：][\s\S]*\Z"
)
"""Text at the end that may become a citation or a list of sources."""
_CONTEXT = 40
"""Characters before a citation that tell whether it is one."""


class Shown:
    """The pieces of a stream with their citations in the form that we read.

    What may become a citation is held back, and so is a whole reply in JSON.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self._passages = passages
        self._held = ""
        self._before = ""
        self._bare: bool | None = None

    def push(self, piece: str) -> str:
        """Return what can be shown once ``piece`` has come."""
        self._held += piece
        if not self._before and self._held.lstrip()[:1] in ("{", "`", "~"):
            return ""
        text = self._normal(self._held)
        begins = _BEGINS.search(text)
        return self._show(text, begins.start() if begins else len(text))

    def rest(self) -> str:
        """Return what was held back, at the end; "" for JSON without prose, which is refused."""
        with suppress(ValueError):
            held = without_fences(self._held)
            text = self._normal(held if self._before else prose_in(held))
            return self._show(text, len(text))
        return ""

    def _normal(self, text: str) -> str:
        cited = self._cited(text, bare=bool(self._bare))
        if self._bare is None and has_citation(cited):
            self._bare = False
        elif self._bare is None and (bare := self._cited(text, bare=True)) != cited:
            self._bare, cited = True, bare
        return cited

    def _cited(self, text: str, *, bare: bool) -> str:
        whole = cited_in_brackets(self._before + text, self._passages, bare=bare)
        return whole[len(self._before) :] if whole.startswith(self._before) else text

    def _show(self, text: str, at: int) -> str:
        self._before, self._held = (self._before + text[:at])[-_CONTEXT:], text[at:]
        return text[:at]
