"""Words that deny or attribute a statement, and words that say nothing about its subject; English and Chinese."""

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

# A demonstrative before a name, as in "This License applies", does not refer back.
_BACK = (
    "he she it they his her hers its their him them and but so or nor yet then thus therefore hence however otherwise "
    "instead also moreover furthermore nevertheless nonetheless consequently similarly likewise meanwhile besides still"
)
_PHRASES = "as a result|by contrast|in contrast|in addition|in fact|for example|for instance|at the same time|even so"
REFERS_BACK = re.compile(
    rf"[\W_]*(?:(?i:{'|'.join(_BACK.split())}|{_PHRASES}){_END}|(?i:this|that|these|those|such){_END}(?!\s+[A-Z])"
    "|他|她|它|其|这|该|此|那|但|然而|因此|所以|不过|同时|而且)"
)
"""The opening of a sentence that cannot be understood without the one before it."""

ATTRIBUTION = _any(
    "says", "said", "say", "claims?", "claimed", "argues?", "argued", "believes?", "believed", "according to", "told",
    "alleges?", "alleged", "myth", "supposedly", "rumou?r", "认为", "声称", "据说", "谣言",
)  # fmt: skip

# Words for what happens, is denied or is limited do not say what a sentence is about.
_EFFECT = _any(
    r"prevent(?:s|ed|ing|ion)?", r"protect(?:s|ed|ing|ion)?", r"lower(?:s|ed|ing)?", r"reduc(?:e|es|ed|ing|tion|tions)",
    r"decreas(?:e|es|ed|ing)", r"cut(?:s|ting)", r"declin(?:e|es|ed|ing)", r"f(?:ell|alls?|alling)", "dropped",
    "drops?", "shrank", r"worsen(?:s|ed)?", "worse", "fewer", "shorter", "longer", "better", "higher",
    r"increas(?:e|es|ed|ing)", r"rais(?:e|es|ed|ing)", r"improv(?:e|es|ed|ing|ement|ements)", "rose", r"ris(?:e|es|en)",
    r"boost(?:s|ed|ing)?", r"gain(?:s|ed|ing)?", "grew", "climbed", r"benefit(?:s|ed)?", "effects?", "difference",
    "differ", r"chang(?:e|es|ed)", "evidence", "influence", "impact", r"help(?:s|ed)?", r"work(?:s|ed)?",
    "among", "only", "if", "unless", "when", "provided", "overall", "except", "especially", "confined", "outside",
    "daily", "monthly", "weekly", "large", "single", "low", "仅", "只有", "如果",
    "作用", "效果", "影响", "差异", "证据", "降低", "减少", "预防", "下降", "提高", "增加", "改善", "增强", "上升",
)  # fmt: skip


def stems(text: str) -> frozenset[str]:
    """Content words cut to a rough stem of five letters, without negations and words for effects."""
    return frozenset(t[:5] for t in terms(text) if not (NEGATION.fullmatch(t) or _EFFECT.fullmatch(t)))
