"""The GUM corpus: documents as raw text with their EDUs and gold trees.

Texts are put together as a reader sees them (spaces as annotated, a blank line between paragraphs), so that the
parser is trained on what it meets in use. Trees keep GUM's own labels (`discorag.discourse.parse.gum_labels`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discorag.discourse.labelled import LabelledSplit
from discorag.schema.errors import ConfigError, InvariantError
from discorag.schema.values import Span
from training.parser.dis import read_dis

LICENCES = {
    "academic": "CC BY 4.0",
    "court": "CC BY 4.0",
    "interview": "CC BY 2.5",
    "news": "CC BY 2.5",
    "bio": "CC BY-SA 3.0",
    "voyage": "CC BY-SA 3.0",
}
"""Licences of the texts that may be redistributed, by genre (GUM's LICENSE.txt); annotations are under CC BY 4.0."""


@dataclass(frozen=True)
class GumDocument:
    """A document.

    Args:
        id: Such as ``GUM_news_nasa``.
        text: As a reader sees it.
        edus: Character spans of its EDUs.
        sentences: Character spans of its sentences; no EDU crosses their borders.
        paragraphs: Indices into ``sentences`` at which a paragraph starts, 0 included.
        splits: The gold tree, n - 1 splits of n EDUs in pre-order.
    """

    id: str
    text: str
    edus: tuple[Span, ...]
    sentences: tuple[Span, ...]
    paragraphs: tuple[int, ...]
    splits: tuple[LabelledSplit, ...]

    @property
    def genre(self) -> str:
        """``news``, ``academic``, ..."""
        return self.id.split("_")[1]


def load_gum(folder: Path, split: str) -> list[GumDocument]:
    """The documents of ``train``, ``dev`` or ``test`` that are in ``folder``.

    Raises:
        ConfigError: There is no such corpus there.
        InvariantError: A tree and its text disagree.
    """
    if not (folder / "splits.md").is_file():
        raise ConfigError(f"There is no GUM corpus in {folder}.", hint="Point DISCO_RAG_DATA at the folder above gum/.")
    section = (folder / "splits.md").read_text(encoding="utf-8").split(f"## {split}\n")[1].split("\n## ")[0]
    names = re.findall(r"GUM_\w+", section)
    return [_document(folder, name) for name in names if (folder / "rst" / f"{name}.dis").is_file()]


def _document(folder: Path, name: str) -> GumDocument:
    text, tokens, sentences, paragraphs = _text((folder / "dep" / f"{name}.conllu").read_text(encoding="utf-8"))
    leaves, splits = read_dis((folder / "rst" / f"{name}.dis").read_text(encoding="utf-8"))
    edus: list[Span] = []
    at = 0
    for leaf in leaves:
        n = len(leaf.split())
        edus.append(Span(start=tokens[at].start, end=tokens[at + n - 1].end))
        at += n
    if at != len(tokens):
        raise InvariantError(f"{name}: {at} tokens in the tree, {len(tokens)} in the text.")
    return GumDocument(name, text, tuple(edus), tuple(sentences), tuple(paragraphs), tuple(splits))


def _text(conllu: str) -> tuple[str, list[Span], list[Span], list[int]]:
    """The text, its tokens, its sentences, and the sentences that start a paragraph."""
    text = ""
    tokens: list[Span] = []
    sentences: list[Span] = []
    paragraphs: list[int] = []
    for block in conllu.strip().split("\n\n"):
        new = "# newpar\n" in block + "\n" or not text
        text = (text.rstrip() + "\n\n" if new else text) if text else ""
        if new:
            paragraphs.append(len(sentences))
        start = len(text)
        for word, space in _words(block):
            tokens.append(Span(start=len(text), end=len(text) + len(word)))
            text += word + (" " if space else "")
        sentences.append(Span(start=start, end=len(text.rstrip())))
        text = text if text.endswith(" ") else text + " "
    return text.rstrip(), tokens, sentences, paragraphs


def _words(block: str) -> Iterator[tuple[str, bool]]:
    """Each syntactic word of a sentence, and whether a space follows; there is none inside a contraction."""
    inside = 0  # the last word of the contraction that we are in
    after = True
    for line in block.splitlines():
        fields = line.split("\t")
        if line.startswith("#") or "." in fields[0]:
            continue
        space = "SpaceAfter=No" not in fields[9]
        if "-" in fields[0]:
            inside, after = int(fields[0].split("-")[1]), space
            continue
        at = int(fields[0])
        yield fields[1], (after if at == inside else False) if at <= inside else space
