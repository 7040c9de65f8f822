"""What is known of a text before it is parsed: its sentences and paragraphs, and what each sentence is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from discorag.ingest.segment.layout import WHOLE, is_mark, without_speaker
from discorag.schema.hierarchy import UnitKind
from discorag.schema.span import Span
from discorag.text.sentences import sentence_spans


@dataclass(frozen=True)
class Layout:
    """A text and what is known of it before parsing.

    Args:
        text: Not empty.
        sentences: Spans of its sentences.
        paragraphs: Indices into ``sentences`` at which a paragraph starts (0 may be left out).
        kinds: What each sentence is by its layout; empty if that is not known.

    Example:
        >>> from discorag.discourse.parse.trained.layout import Layout
        >>> from discorag.schema.span import Span
        >>> layout = Layout("Tides rise. They fall.", (Span(start=0, end=11), Span(start=12, end=22)), paragraphs=())
        >>> [sentence.of(layout.text) for sentence in layout.sentences]
        ['Tides rise.', 'They fall.']
    """

    text: str
    sentences: tuple[Span, ...]
    paragraphs: tuple[int, ...]
    kinds: tuple[UnitKind, ...] = ()

    @property
    def whole(self) -> list[Span]:
        """Stretches in which no EDU starts: what its layout makes one unit, and a speaker with the word behind it."""
        known = zip(self.sentences, self.kinds, strict=True) if self.kinds else ()
        return [s if kind in WHOLE else _label_of(s, self.text) for s, kind in known if kind in WHOLE | {UnitKind.TURN}]

    @property
    def openers(self) -> frozenset[int]:
        """Where sentences start that only open what follows: headings, and marks and names that stand alone."""
        known = zip(self.sentences, self.kinds, strict=True) if self.kinds else ()
        return frozenset(s.start for s, kind in known if kind is UnitKind.HEADING or is_mark(s.of(self.text)))


def layout_of(
    text: str,
    sentences: Sequence[Span] | None = None,
    paragraphs: Sequence[int] = (),
    kinds: Sequence[UnitKind] = (),
) -> Layout:
    """The layout of a text; sentences and, at blank lines, paragraphs are found if they are not given."""
    if sentences is not None:
        return Layout(text, tuple(sentences), tuple(paragraphs), tuple(kinds))
    found = sentence_spans(text)
    between = [text[a.end : b.start] for a, b in pairwise(found)]
    return Layout(text, found, tuple(i for i, gap in enumerate(between, start=1) if gap.count("\n") > 1))


def _label_of(turn: Span, text: str) -> Span:
    """The name at the start of a turn, and the first character of what is said."""
    said = without_speaker(turn.of(text)).lstrip()
    return Span(start=turn.start, end=min(turn.end, turn.end - len(said) + 1))
