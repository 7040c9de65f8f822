"""Whether a sentence keeps what limits a claim of its evidence: conditions, groups, and which ones are meant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from discorag.claims import lexicon as lx
from discorag.claims.polarity import negations
from discorag.claims.words import Word, content, first_of, is_verb, lower, repeats, words

_REPEATED = 0.5  # share of a claim's content words from which a sentence repeats it
_CLAIM = 0.3  # ... if a condition stands beside it
_KEPT = 0.34  # share of a condition's content words from which a sentence keeps it
_CONTRAST = frozenset({"but", "while"})
_SHOWN = 6  # words of a lost condition that are quoted


def widened(sentence: str, sources: Sequence[str]) -> str:
    """What limits the sources' claim and not the sentence's; empty if nothing."""
    said = words(sentence)
    for tokens in map(words, sources):
        if lost := _condition_lost(said, tokens):
            return f'It drops a condition of the evidence ("{_quoted(lost)}").'
        if lost := _group_lost(said, tokens):
            return f'It drops what the evidence limits the claim to ("{_quoted(lost)}").'
        if lost := _relative_lost(said, tokens):
            return f'It drops which ones the evidence speaks of ("{_quoted(lost)}").'
    return ""


def _quoted(lost: Sequence[Word]) -> str:
    return " ".join(t.text for t in lost[:_SHOWN] if not t.mark)


def _condition_lost(said: Sequence[Word], tokens: Sequence[Word]) -> list[Word]:
    denied, spoken = bool(negations(tuple(said))), {w.lower for w in said}
    wide = bool(spoken & lx.UNCONDITIONAL) or _whether_or_not(said)
    for i, word in enumerate(tokens):
        condition, claim = _split(tokens, i) if _restricts(tokens, i) else ([], [])
        denies = denied and not any(w.lower in lx.NEGATORS for w in claim)
        if not condition or denies or not repeats(said, claim, _CLAIM):
            continue
        kept = repeats(said, condition, _KEPT) or bool(spoken & lx.IFS)
        unmarked = word.lower in ("unless", "except") and not spoken & lx.RESTRICTED
        only = word.lower == "only" and "only" in spoken
        if wide or ((not kept or unmarked) and not only):
            return [word, *condition]
    return []


def _restricts(tokens: Sequence[Word], i: int) -> bool:
    """Whether a condition starts at ``i``: "if", "unless", "as long as", or a "when" that speaks of no single time."""
    word, before, after = tokens[i].lower, lower(tokens, i - 1), lower(tokens, i + 1)
    if word == "long":
        return before in ("as", "so") and after == "as"
    if word in ("when", "whenever", "where"):
        clause = [t.lower for t in tokens[i:] if t.clause == tokens[i].clause]
        return bool(after) and not any(w in lx.PAST or w.endswith("ed") for w in clause)
    if word == "only":
        return _only_restricts(tokens, i)
    return word in lx.RESTRICTIVE and not (word == "if" and before in ("as", "even"))


def _only_restricts(tokens: Sequence[Word], i: int) -> bool:
    """Whether "only" opens a condition of some length, and does not belong to an amount ("only three", "the only")."""
    amount = i + 1 == len(tokens) or tokens[i + 1].number or lower(tokens, i + 1) in ("a", "an", "the")
    if amount or lower(tokens, i - 1) in ("the", "not", "its", "an"):
        return False
    return len(content(_split(tokens, i)[0])) > 1


def _whether_or_not(said: Sequence[Word]) -> bool:
    spoken = [w.lower for w in said]
    even = any(a == "even" and b in ("if", "when", "without") for a, b in pairwise(spoken))
    return even or {"whether", "not"} <= set(spoken)


def _split(tokens: Sequence[Word], i: int) -> tuple[list[Word], list[Word]]:
    """The condition that the word at ``i`` opens, up to the next mark, and the rest of its sentence up to ; or but."""
    end = first_of(tokens, i + 1, ",;.—()")
    start = max((j + 1 for j in range(i) if tokens[j].text in ";:"), default=0)
    rest = tokens[end : first_of(tokens, end, ";:", _CONTRAST)]
    return list(tokens[i + 1 : end]), [*tokens[start:i], *rest]


def _group_lost(said: Sequence[Word], tokens: Sequence[Word]) -> list[Word]:
    """A group, dose or setting that opens the clause ("In children under six, ...") and is not in the sentence."""
    for i, word in enumerate(tokens):
        if word.lower in lx.BEFORE_A_GROUP and (i == 0 or tokens[i - 1].text in ";:"):
            end = first_of(tokens, i, ",")
            group, claim = tokens[i + 1 : end], tokens[end : first_of(tokens, end, ";:")]
            if _limits(tokens, i, group) and not repeats(said, group, _KEPT) and repeats(said, claim, _REPEATED):
                return [word, *group]
    return []


def _limits(tokens: Sequence[Word], i: int, group: Sequence[Word]) -> bool:
    """Whether the phrase at ``i`` names some among others: people, a dose, or one of two settings set side by side."""
    if any(t.lower in lx.ALL for t in group):
        return False
    beside = any(tokens[j].lower == tokens[i].lower and tokens[j - 1].text == ";" for j in range(i + 1, len(tokens)))
    return beside or any(t.of(lx.PEOPLE) or t.lower in lx.NARROWING for t in group)


def _relative_lost(said: Sequence[Word], tokens: Sequence[Word]) -> list[Word]:
    """Such as "mice that had been deprived of sleep" that have become "mice"."""
    for i in range(1, len(tokens) - 1):
        head = tokens[i - 1]
        if tokens[i].lower not in lx.NARROWING or not head.content or not _plural(head) or _definite(tokens, i - 1):
            continue
        relative = _narrowing(tokens, i)
        claim = [t for t in tokens if t not in relative and abs(t.clause - head.clause) < 2]
        kept = bool(content(relative) & content(said)) or _described(said, head.stem)
        bare = head.stem in content(said) and not kept and len(content(relative)) > 1
        if bare and repeats(said, claim, _REPEATED):
            return relative
    return []


def _described(said: Sequence[Word], stem: str) -> bool:
    """Whether an adjective stands before the noun."""
    return any(
        word.stem == stem and i > 0 and said[i - 1].content and (i == 1 or not is_verb(said, i - 1))
        for i, word in enumerate(said)
    )


def _narrowing(tokens: Sequence[Word], i: int) -> list[Word]:
    """The relative clause at ``i``, or the phrase up to the verb."""
    if tokens[i].lower in ("that", "who"):
        return [t for t in tokens if t.clause == tokens[i].clause]
    end = next((j for j in range(i + 1, len(tokens)) if tokens[j].mark or is_verb(tokens, j)), len(tokens))
    return list(tokens[i:end])


def _plural(word: Word) -> bool:
    return word.lower in lx.irregular() or (word.lower.endswith("s") and not word.lower.endswith("ss"))


def _definite(tokens: Sequence[Word], i: int) -> bool:
    while i > 0 and tokens[i].content and not is_verb(tokens, i):
        i -= 1
    return tokens[i].lower in lx.DEFINITE
