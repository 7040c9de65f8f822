"""Small edits that make a supported sentence unsupported and keep its words, and changes that keep what it says.

They are made by rule, so some read badly and a few leave the sentence true; the models that learn from them also see
pairs that people labelled. No text of the benchmark's pairs was used.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from training.nli import words as w

NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_PHRASE = re.compile(r"\b(?:the|a|an|his|her|its|their|this|that|these|those) (?:[a-z-]+ )?[a-z-]{3,}\b")
_VERB = r"(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|did|does|\w{3,}ed)"
_SUBJECT = re.compile(rf"((?:[\w'-]+ ){{1,6}}?)(?={_VERB}\b)")
_TURNING = re.compile(
    r"(.{10,}?),? (because|before|after|causes|caused|leads to|led to|is followed by|was followed by|so that|until) "
    r"(.{10,}?)[.!]?$"
)
_WORD = re.compile(r"[A-Za-z']+")
_LEAST, _MOST = 7, 45  # words of a sentence that is edited
Edited = str | None
Editor = Callable[[str, str, random.Random], Edited]
"""Makes another sentence of evidence, sentence and chance; None where it finds nothing to change."""


@dataclass(frozen=True)
class Example:
    """Evidence and sentence after an edit."""

    evidence: str
    sentence: str
    supported: bool
    edit: str


def number_changed(evidence: str, sentence: str, rng: random.Random) -> Edited:
    """A figure or number word becomes another, often one that stands elsewhere in the evidence."""
    spots = list(_DIGITS.finditer(sentence)) + [m for m in _WORD.finditer(sentence) if m[0].lower() in w.NUMBERS]
    if not spots:
        return None
    spot = rng.choice(spots)
    if spot[0][0].isdigit():
        others = [m[0] for m in _DIGITS.finditer(evidence) if m[0] != spot[0] and abs(len(m[0]) - len(spot[0])) < 2]
        new = rng.choice(others) if others and rng.random() < 0.5 else _perturbed(spot[0], rng)
    else:
        new = rng.choice([n for n in w.NUMBERS if n != spot[0].lower()])
    return _put(sentence, spot, new)


def _perturbed(figure: str, rng: random.Random) -> str:
    digits = [i for i, c in enumerate(figure) if c.isdigit()]
    i = rng.choice(digits)
    if len(digits) > 1 and rng.random() < 0.3:
        j = rng.choice([k for k in digits if k != i])
        swapped = list(figure)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        if "".join(swapped) != figure and swapped[0] != "0":
            return "".join(swapped)
    new = rng.choice([c for c in "123456789" if c != figure[i]])
    return figure[:i] + new + figure[i + 1 :]


def swapped_by(pattern: re.Pattern[str]) -> Editor:
    """Two matches of ``pattern`` change places."""

    def edit(_evidence: str, sentence: str, rng: random.Random) -> Edited:
        found = [m for m in pattern.finditer(sentence)]
        pairs = [(a, b) for i, a in enumerate(found) for b in found[i + 1 :] if a[0].lower() != b[0].lower()]
        pairs = [(a, b) for a, b in pairs if " and " not in sentence[a.end() : b.start()][:6]]
        if not pairs:
            return None
        a, b = rng.choice(pairs)
        return _capital(sentence[: a.start()] + b[0] + sentence[a.end() : b.start()] + a[0] + sentence[b.end() :])

    return edit


def replaced_by(pattern: re.Pattern[str]) -> Editor:
    """A match of ``pattern`` gives way to another of the evidence."""

    def edit(evidence: str, sentence: str, rng: random.Random) -> Edited:
        mine = list(pattern.finditer(sentence))
        low = sentence.lower()
        others = [m[0] for m in pattern.finditer(evidence) if m[0].lower() not in low]
        if not mine or not others:
            return None
        return _put(sentence, rng.choice(mine), rng.choice(others))

    return edit


def one_for_another(table: dict[str, tuple[str, ...]]) -> Editor:
    """A word gives way to one that the table has for it."""

    def edit(_evidence: str, sentence: str, rng: random.Random) -> Edited:
        spots = [m for m in _WORD.finditer(sentence) if m[0].lower() in table]
        if not spots:
            return None
        spot = rng.choice(spots)
        return _put(sentence, spot, rng.choice(table[spot[0].lower()]))

    return edit


def stitched(evidence: str, sentence: str, rng: random.Random) -> Edited:
    """What is said of one thing is said of another that a sentence of the evidence is about."""
    mine = _SUBJECT.match(sentence)
    about = (m for part in re.split(r"(?<=[.!?]) ", evidence) if (m := _SUBJECT.match(part)))
    others = [m[1] for m in about if not mine or m[1].lower() not in sentence.lower()]
    if not mine or not others:
        return None
    return _capital(rng.choice(others) + sentence[mine.end(1) :])


def turned(_evidence: str, sentence: str, _rng: random.Random) -> Edited:
    """Cause and effect, or earlier and later, change places."""
    m = _TURNING.match(sentence)
    return _capital(f"{_lower(m[3])} {m[2]} {_lower(m[1])}.") if m else None


def negated(_evidence: str, sentence: str, rng: random.Random) -> Edited:
    """A negation more, or one less."""
    for pattern, new in w.UNNEGATED:
        if pattern.search(sentence):
            return pattern.sub(new, sentence, count=1)
    spots = [m for m in _WORD.finditer(sentence) if m[0].lower() in w.AUXILIARIES]
    if spots:
        spot = rng.choice(spots[:2])
        new = rng.choice(("{} not", "{} never", "{} not", "{} no longer")).format(spot[0])
        return sentence[: spot.start()] + new + sentence[spot.end() :]
    past = [
        m
        for m in re.finditer(
            r"(?<=[a-z] )[a-z]{3,}ed\b(?= (?:the|a|an|to|in|on|his|her|its|their|from|by|that)\b)", sentence
        )
    ]
    if not past:
        return None
    spot = rng.choice(past)
    base = re.sub(r"(?:i)ed$", "y", spot[0]) if spot[0].endswith("ied") else re.sub("ed$", "", spot[0])
    new = rng.choice((f"never {spot[0]}", f"did not {base}", f"failed to {base}", f"hardly {spot[0]}"))
    return sentence[: spot.start()] + new + sentence[spot.end() :]


def unconditional(_evidence: str, sentence: str, rng: random.Random) -> Edited:
    """A condition, a limit or a hedge is left out."""
    order = list(w.DROPPED)
    rng.shuffle(order)
    for pattern, new in order:
        if pattern.search(sentence):
            out = _capital(re.sub(r"\s{2,}", " ", pattern.sub(new, sentence, count=1)).strip(" ,"))
            if len(out.split()) >= 4 and out != sentence:
                return out if out[-1] in ".!?" else out + "."
    return None


def widened(_evidence: str, sentence: str, rng: random.Random) -> Edited:
    """It is said of all, at all times."""
    if m := re.match(r"(?:The|These|Those) (?=[a-z]+s\b)", sentence):
        return rng.choice(("All ", "All the ", "Every one of the ")) + sentence[m.end() :]
    spots = [m for m in _WORD.finditer(sentence) if m[0].lower() in w.AUXILIARIES]
    if not spots or any(x in sentence.lower() for x in ("all", "always", "every")):
        return None
    spot = spots[0]
    return sentence[: spot.end()] + rng.choice((" always", " only", " always")) + sentence[spot.end() :]


EDITS: dict[str, tuple[Editor, ...]] = {
    "number": (number_changed, number_changed, swapped_by(_DIGITS), one_for_another(w.MAGNITUDES)),
    "negation": (negated,),
    "opposite": (one_for_another(w.OPPOSITES),),
    "entity": (swapped_by(NAME), replaced_by(NAME), swapped_by(_PHRASE), swapped_by(_PHRASE), replaced_by(_PHRASE)),
    "stitched": (stitched,),
    "time": (one_for_another(w.TIMES), one_for_another(w.TIMES), turned, turned),
    "condition": (unconditional, unconditional, one_for_another(w.QUANTIFIERS), widened),
}


def edit_pair(evidence: str, sentence: str, rng: random.Random, most: int = 3) -> list[Example]:
    """Up to ``most`` examples made of a supported sentence, no two of one kind; all unsupported."""
    made: list[Example] = []
    kinds = list(EDITS)
    rng.shuffle(kinds)
    for kind in kinds:
        editors = list(EDITS[kind])
        rng.shuffle(editors)
        new = next((out for e in editors if (out := e(evidence, sentence, rng)) and out != sentence), None)
        if new and new.lower() not in evidence.lower() and len(made) < most:
            made.append(Example(evidence, new, supported=False, edit=kind))
    return made


def limited(evidence: str, sentence: str, rng: random.Random) -> list[Example]:
    """The evidence is given a limit or a speaker, and the sentence has it, lacks it, or has another."""
    if len(sentence.split()) < 4 or sentence.endswith("?") or sentence.lower() not in evidence.lower():
        return []
    bare, at = _lower(sentence.rstrip(".! ")), evidence.lower().index(sentence.lower())
    rest = evidence[at + len(sentence) :]
    speaker = rng.random() < 0.55
    table = w.SPOKEN if speaker else w.LIMITED
    frame, again = rng.sample(table, 2)
    one, other = rng.sample(w.SPEAKERS if speaker else w.LIMITS, 2)
    told = evidence[:at] + _capital(frame.format(x=one, p=bare)) + rest
    kind = "attribution" if speaker else "condition"
    return [
        Example(told, _capital(again.format(x=one, p=bare)), supported=True, edit=kind),
        Example(told, sentence, supported=False, edit=kind),
        Example(told, _capital(again.format(x=other, p=bare)), supported=False, edit=kind),
    ]


def keep_edits(evidence: str, sentence: str, rng: random.Random) -> list[Example]:
    """What still follows: a first half, digits as words, an adjunct in front."""
    made: list[str] = []
    if m := re.match(r"([^,;]{25,}), (?:and|but|while|whereas) [^,;]{20,}$", sentence):
        made.append(m[1] + ".")
    if m := re.match(r"(.{20,}) ((?:in|on|after|before|during|since|until) [\w ]{3,30})\.$", sentence):
        made.append(_capital(f"{m[2]}, {_lower(m[1])}."))
    if m := re.match(r"((?:In|On|After|Before|During|Since|Until) [^,]{3,40}), (.{20,})\.$", sentence):
        made.append(_capital(f"{m[2]} {_lower(m[1])}."))
    for a, b in w.SAME_NUMBER:
        new = re.sub(rf"\b{a}\b", b, sentence)
        if new != sentence:
            made.append(new)
    rng.shuffle(made)
    return [Example(evidence, s, supported=True, edit="kept") for s in made[:1]]


def among_neighbours(sentences: Sequence[str], rng: random.Random) -> Iterator[Example]:
    """Edits of each sentence of a text, with a few sentences around it as the evidence."""
    for i, sentence in enumerate(sentences):
        if not _LEAST <= len(sentence.split()) <= _MOST or sentence.endswith("?"):
            continue
        first = rng.randint(max(0, i - 1), i)
        evidence = " ".join(sentences[first : i + rng.randint(1, 3)])
        yield from edit_pair(evidence, sentence, rng, 4) + keep_edits(evidence, sentence, rng)
        yield from limited(evidence, sentence, rng)
        yield Example(evidence, sentence, supported=True, edit="copy")
        if others := [s for s in sentences if s not in evidence]:
            yield Example(evidence, rng.choice(others), supported=False, edit="elsewhere")


def _put(sentence: str, spot: re.Match[str], new: str) -> str:
    new = new[0].upper() + new[1:] if spot[0][0].isupper() and spot.start() == 0 else new
    return sentence[: spot.start()] + new + sentence[spot.end() :]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _lower(sentence: str) -> str:
    first = sentence.split(" ", 1)[0]
    common = first.lower() in w.OPENERS
    return sentence[:1].lower() + sentence[1:] if common else sentence
