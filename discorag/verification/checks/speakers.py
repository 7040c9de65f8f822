"""Whether a sentence keeps the speakers of its evidence: who says or thinks it, and that it is only said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discorag.claims import lexicon as lx
from discorag.claims.words import Word, after_last, clauses, content, first_of, lower, stems, words

_CLAUSE = 4  # content words from which a clause of the sentence is looked at by itself
_CONTRAST = frozenset({"but", "while", "whereas"})
_JOINING = _CONTRAST | {"and", "although", "though"}
_HELD = 0.5  # share of a sentence's words found in the evidence that lie in what a speaker says


@dataclass(frozen=True)
class Attribution:
    """A word of saying, its speaker's stems, and the stems of what is said.

    Example:
        >>> from discorag.claims.words import words
        >>> from discorag.verification.checks.speakers import attributions
        >>> [(said.word, sorted(said.speaker)) for said in attributions(words("Mary said that the earth moves."))]
        [('said', ['mary'])]
    """

    word: str
    speaker: frozenset[str]
    said: frozenset[str]
    strong: bool


def attributed(sentence: str, sources: Sequence[str]) -> str:
    """What is wrong with the sentence's speakers; empty if they are those of the sources."""
    tokens = words(sentence)
    mine = attributions(tokens)
    there = [(words(s), a) for s in sources for a in attributions(words(s))]
    if any(_misattributed(m, [a for _, a in there]) for m in mine):
        return "It gives to one speaker what another one says in the evidence."
    everything = content([w for s in sources for w in words(s)])
    told = [a for source, a in there if any(_applies(a, part, source, everything) for part in _parts(tokens))]
    if any(m.speaker & a.speaker and m.said & a.said for m in mine for _, a in there):
        told = [a for a in told if any(m.speaker & a.speaker for m in mine)]
    return next((p for a in told if (p := _problem(tokens, a, everything))), "")


def _misattributed(mine: Attribution, there: list[Attribution]) -> bool:
    """Whether a speaker of the evidence says here what only another one says there."""
    own = [a for a in there if a.speaker & mine.speaker]
    others = _all_said([a for a in there if a.speaker and not a.speaker & mine.speaker])
    told = _all_said(own)
    return bool(own) and bool((mine.said & others) - told) and not mine.said & (told - others)


def _all_said(found: list[Attribution]) -> frozenset[str]:
    return frozenset[str]().union(*(a.said for a in found))


def _parts(tokens: tuple[Word, ...]) -> list[frozenset[str]]:
    """The content of the sentence, of its clauses that have some, and of what it says somebody says."""
    long = [
        content(c)
        for c in clauses(tokens)
        if len(content(c)) >= _CLAUSE and c[0].lower not in lx.SUBORDINATORS - _JOINING
    ]
    return [content(tokens), *long, *(m.said for m in attributions(tokens) if m.said)]


def _problem(tokens: tuple[Word, ...], theirs: Attribution, everything: frozenset[str]) -> str:
    """What is wrong in a sentence that repeats what ``theirs`` has somebody say."""
    every = attributions(tokens)
    if not every:
        lost = theirs.strong and not _named(tokens, theirs) and not _softened(tokens, theirs)
        return f'It states as a fact what is only said ("{theirs.word}") in the evidence.' if lost else ""
    mine = [m for m in every if m.strong or not theirs.speaker or m.speaker & theirs.speaker]
    speakers = frozenset[str]().union(*(m.speaker for m in mine))
    strange = speakers & everything - theirs.speaker
    unknown = not speakers & everything and theirs.strong and speakers.isdisjoint(stems(lx.ANYBODY))
    other = bool(strange or (unknown and speakers)) and bool(theirs.speaker - content(tokens))
    return "It gives to another speaker what the evidence says." if other else ""


def _named(tokens: tuple[Word, ...], theirs: Attribution) -> bool:
    """Whether the sentence names at least half of the speaker, not as an owner ("the firm's glue")."""
    repeated = {w.stem for w in tokens if not w.possessive} & theirs.speaker
    return bool(repeated) and len(repeated) >= len(theirs.speaker) / 2


def _applies(theirs: Attribution, part: frozenset[str], source: tuple[Word, ...], everything: frozenset[str]) -> bool:
    """Whether the sentence repeats what this speaker says, rather than the rest of the evidence."""
    mine = (part & everything) - theirs.speaker
    held = mine & theirs.said
    elsewhere = mine & (content(source) - theirs.said)
    return bool(mine) and len(held) >= max(_HELD * len(mine), 0.3 * len(theirs.said)) and len(held) > len(elsewhere)


def _softened(tokens: tuple[Word, ...], theirs: Attribution) -> bool:
    soft = any(w.lower in lx.HEDGES | lx.HEARSAY | {"would", "whether", "if"} for w in tokens)
    noun = any(w.of(lx.OPINION) for w in tokens) and bool(theirs.speaker & content(tokens))
    return soft or noun


def attributions(tokens: tuple[Word, ...]) -> list[Attribution]:
    """The attributions of a sentence."""
    found: list[Attribution] = []
    for i, word in enumerate(tokens):
        opinion = word.of(lx.OPINION) and lower(tokens, i - 2) in ("in", "by", "on") and lower(tokens, i + 1) == "of"
        if word.lower == "according" or opinion:
            found.append(_according(tokens, i))
        elif word.lower in lx.HEARSAY:
            found.append(Attribution(word.lower, frozenset(), _behind(tokens, i), strong=True))
        elif _says(tokens, i):
            found.append(_spoken(tokens, i))
    return found


def _says(tokens: tuple[Word, ...], i: int) -> bool:
    """Whether the word at ``i`` is a verb of saying or thinking ("puts the loss at" is one, "found that" is none)."""
    word, behind = tokens[i], {t.lower for t in tokens[i + 1 : i + 8]}
    if word.lower in ("put", "puts"):
        return bool(behind & {"down", "at"})
    with_that = word.of(lx.SPEECH_WITH_THAT) and lower(tokens, i + 1) == "that" and word.lower != "found"
    return (with_that or word.of(lx.SPEECH)) and _is_verb(tokens, i)


def _is_verb(tokens: tuple[Word, ...], i: int) -> bool:
    before, after = lower(tokens, i - 1), lower(tokens, i + 1)
    if before in lx.DETERMINERS | lx.PREPOSITIONS or (i > 0 and tokens[i - 1].possessive):
        return before in lx.PRONOMINAL
    return after != "of" and (after not in lx.BE or tokens[i].lower.endswith("ed"))


def _according(tokens: tuple[Word, ...], i: int) -> Attribution:
    end = first_of(tokens, i, ",;.")
    speaker = content(tokens[i + 1 : end])
    said = tokens[:i] if end >= len(tokens) - 1 else (*tokens[:i], *tokens[end : first_of(tokens, end, ";")])
    return Attribution(tokens[i].lower, speaker, content(said), strong=True)


def _spoken(tokens: tuple[Word, ...], i: int) -> Attribution:
    start = after_last(tokens, i, ",;:", _JOINING)
    if not content(tokens[start:i]):  # "The draft, which nobody has seen, proposes ..."
        start = after_last(tokens, max(0, start - 1), ";:")
    speaker, behind = content([t for t in tokens[start:i] if not t.of(lx.SPEECH)]), _behind(tokens, i)
    if lower(tokens, i - 1) in lx.BE:  # "he is said to have ..."
        return Attribution(tokens[i].lower, frozenset(), speaker | behind, strong=True)
    if len(behind) > 1 or lower(tokens, start - 1) != ",":
        that = "that" in (t.lower for t in tokens[i + 1 : i + 4])
        strong = that or tokens[i].of(lx.ASSERTION) or lower(tokens, i + 1) == "to"
        return Attribution(tokens[i].lower, speaker, behind, strong=strong)
    before = tokens[after_last(tokens, start - 1, ";:") : start - 1]
    return Attribution(tokens[i].lower, speaker | behind, content(before), strong=True)


def _behind(tokens: tuple[Word, ...], i: int) -> frozenset[str]:
    """What is said behind the word at ``i``: up to a ; or to a clause that contrasts."""
    return content(tokens[i + 1 : first_of(tokens, i + 1, ";", _CONTRAST)])
