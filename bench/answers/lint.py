"""What a reader stumbles over in an answer, by signs that need no model; some of what they mark reads well."""

import re
from collections.abc import Sequence

from bench.answers.replies import Sentence

FAULTS = ("fragments", "markup", "dangling")
NEAR = 3
"""Characters between two stretches of text that follow each other: a space, the end of a paragraph."""
_FRAGMENT = re.compile(r"[a-z]+[ ,;]|(?!.*[.!?:。！？：…`][\"'”’»)\]」』]*\s*$)", re.DOTALL)
_MARKUP = re.compile(
    r"\[[^\]]*\]\(|(?<!\w)(\*{1,3}|_{1,3})\w[^*_]*\w\1(?!\w)"  # a link, emphasis
    r"|^[-*•#>]+\s|^\||\|[^|]*\||\s•\s|#{2,}\s|={3,}|-{4,}|_{4,}|`{3}"  # items, headings, rows, rules
    r"|\\[A-Za-z]+|\$(?!\s)[^$]*(?<!\s)\$(?!\d)|</?[a-z]+[^>@]*>|&[a-z]+;"  # LaTeX, HTML
)
_DANGLING = re.compile(
    r"[\W_]*(?:(?:in|on|at|for|from|by|with|after|before|during)\b\W+(?:[\w’']+\W+)?)?"
    r"(?:he|she|it|they|his|her|its|their|him|them|this|that|these|those|such|and|but|so|or|nor|yet|then|thus|therefore"
    r"|hence|however|otherwise|instead|also|too|moreover|furthermore|nevertheless|consequently|likewise|similarly"
    r"|meanwhile|still|besides|as a result|in addition|by contrast|for example|for instance)\b",
    re.IGNORECASE,
)


def faults(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """The faults that at least one sentence of an answer has.

    A fragment opens with a small letter or has no end; a dangling sentence opens with a pronoun or a connective, and
    what the answer quotes before it does not precede it in the source.
    """
    dangling = (
        _DANGLING.match(s.text) and not (at and _follows(sentences[at - 1], s)) for at, s in enumerate(sentences)
    )
    found = {
        "fragments": any(_FRAGMENT.match(s.text) for s in sentences),
        "markup": any(_MARKUP.search(s.text) for s in sentences),
        "dangling": any(dangling),
    }
    return tuple(fault for fault in FAULTS if found[fault])


def _follows(one: Sentence, other: Sentence) -> bool:
    return any(a.doc == b.doc and 0 <= b.span.start - a.span.end <= NEAR for a in one.quoted for b in other.quoted)
