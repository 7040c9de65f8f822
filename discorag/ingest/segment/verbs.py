"""Whether a unit has a finite verb, as every whole sentence has.

A linear model of words and their neighbours decides. Its features are hashed, so that the model is one list of numbers;
``python -m training.verbs GUM`` makes it. It knows only English.
"""

import json
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from discorag.text.sentences import CJK

SIZE = 16_384
WEIGHTS = Path(__file__).with_name("verbs.json")
THRESHOLD = -3.5  # log odds; below it lie six in ten fragments of GUM, and one in 200 of its statements
WORD = re.compile(r"\w+(?:['’]\w+)?|[^\w\s]")


def has_verb(text: str) -> bool:
    """Whether a word of ``text`` may be a finite verb; texts with Chinese in them always pass."""
    if CJK.search(text):
        return True
    words, weights = WORD.findall(text), _weights()
    letters = (i for i, word in enumerate(words) if word[0].isalpha())
    return any(sum(weights[f] for f in features(words, i)) >= THRESHOLD for i in letters)


def features(words: Sequence[str], at: int) -> set[int]:
    """Indices of the features of the word at ``at`` among ``words``; the last one is always there."""
    return {zlib.crc32(name.encode()) % SIZE for name in _names(words, at)} | {SIZE}


def _names(words: Sequence[str], at: int) -> Iterator[str]:
    padded = ("<", "<", *words[max(0, at - 2) : at + 3], ">", ">")
    here = 2 + min(at, 2)
    before2, before, word, after, after2 = (w.lower() for w in padded[here - 2 : here + 3])
    case = "first" if at == 0 else str(words[at][:1].isupper())
    ending, short = word[-3:], word[-2:]
    yield from (f"w{word}", f"s{ending}", f"p{before}", f"n{after}", f"c{case} {ending}")
    yield from (f"p{before} {short}", f"n{short} {after}", f"p{before[-3:]}|{ending}", f"n{ending}|{after[-3:]}")
    yield f"pp{before2[-2:]} {before[-2:]} {short}"
    yield f"nn{short} {after[-2:]} {after2[-2:]}"


@cache
def _weights() -> list[float]:
    return [weight / 100 for weight in json.loads(WEIGHTS.read_text("utf-8"))]
