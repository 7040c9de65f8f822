"""Word lists of the rule-based engines: stated cues, English and Chinese."""

from __future__ import annotations

import re

from discorag.text.terms import terms

_END = r"(?![\w-])"


def _any(*words: str) -> re.Pattern[str]:
    latin = [w for w in words if w.isascii()]
    cjk = [re.escape(w) for w in words if not w.isascii()]
    parts = ([rf"\b(?:{'|'.join(latin)}){_END}"] if latin else []) + cjk
    return re.compile("|".join(parts), re.IGNORECASE)


NEGATION = _any(
    "no", "not", "never", "nor", "neither", "without", "hardly", "nobody", "none", "cannot", "little", "lacks?",
    r"\w+n['’]t", "unlikely", "fails?", "failed", "unable", "absence",
    "没有", "不能", "不会", "并未", "未能", "并不", "无法",
)  # fmt: skip

# An effect that is said to happen, by the direction in which the outcome moves.
DOWNWARD = _any(
    r"prevent(?:s|ed|ing|ion)?", r"protect(?:s|ed|ing|ion)?", r"lower(?:s|ed|ing)", r"reduc(?:e|es|ed|ing|tion|tions)",
    r"decreas(?:e|es|ed|ing)", r"cut(?:s|ting)", r"declin(?:e|es|ed|ing)", r"f(?:ell|alls|alling)", r"dropped",
    "drops?", r"shrank", r"worsen(?:s|ed)?", "fewer", "降低", "减少", "预防", "下降",
)  # fmt: skip
UPWARD = _any(
    r"increas(?:e|es|ed|ing)", r"rais(?:e|es|ed|ing)", r"improv(?:e|es|ed|ing|ement|ements)",
    r"rose", r"r(?:ises|isen)",
    r"boost(?:s|ed|ing)?", r"gain(?:s|ed|ing)?", r"grew", r"climbed", r"benefit(?:s|ed)?", "longer", "better",
    "提高", "增加", "改善", "增强", "上升",
)  # fmt: skip

# Nouns and verbs by which an effect is denied: "no ... effect", "did not ... change".
EFFECT = _any(
    "effects?", "benefits?", r"protect(?:s|ed|ion)?", r"prevent(?:s|ed)?", "difference", "differ", "improvements?",
    r"improve[sd]?", r"chang(?:e|es|ed)", r"reduc(?:e|es|ed|tion)", r"increase[sd]?", "gains?", r"lower(?:s|ed)?",
    r"raise[sd]?", "rise", "rose", "fall", "evidence", "influence", "impact",
    "longer", "shorter", "better", "worse", "higher", "lower", r"help(?:s|ed)?", r"work(?:s|ed)?",
    "作用", "效果", "影响", "差异", "证据", "降低", "减少", "预防", "提高", "改善",
)  # fmt: skip

# An effect denied without a negation.
UNCHANGED = _any(
    "unchanged", "identical", "indistinguishable", "no different", "made no difference", "相同", "没有变化"
)

# What limits a claim to a group, a dose, a time or a supposition.
QUALIFIER = _any(
    "among", "only", "if", "unless", "when", "provided", "overall", "except", "especially", "confined",
    r"in (?:adults|children|people|those|this group)", "who were", "who are", "with a", "outside",
    "daily", "monthly", "weekly", "large", "single", "low", "在.{0,12}中", "仅", "只有", "如果",
)  # fmt: skip
UNIVERSAL = _any("everyone", "everybody", "all", "always", "whatever", "any", "every", "never", "所有", "任何", "总是")
HYPOTHETICAL = _any(
    "may", "might", "could", "would", "whether", "should", "if", "can", "ask(?:ed|s)?", "aims?",
    "possibl[ey]", "可能", "是否",
)  # fmt: skip

# Who says it, and whether it is believed.
ATTRIBUTION = _any(
    "says", "said", "say", "claims?", "claimed", "argues?", "argued", "believes?", "believed", "according to", "told",
    "alleges?", "alleged", "myth", "supposedly", "rumou?r", "认为", "声称", "据说", "谣言",
)  # fmt: skip

DEFINITION = re.compile(
    r"^(?:an?|the)?\s*[\w\s-]{2,40}?\b(?:is|are) (?:an?|the|called|known as|defined as)\b"
    r"|\b(?:refers to|is defined as|means)\b"
    r"|^.{1,20}(?:是一种|是指|指的是)",
    re.IGNORECASE,
)


def stems(text: str) -> frozenset[str]:
    """Content words cut to a rough stem of five letters, effect words and negations left out."""
    return frozenset(t[:5] for t in terms(text) if not _is_cue(t))


def _is_cue(term: str) -> bool:
    return any(p.fullmatch(term) for p in (NEGATION, EFFECT, UPWARD, DOWNWARD, QUALIFIER))
