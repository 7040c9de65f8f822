"""The prompt files, checked and loaded once."""

from __future__ import annotations

from functools import cache

from discorag.prompted.as_printed import PaperTemplates
from discorag.prompted.conversation import Templates
from prompts import load


@cache
def templates() -> Templates:
    """Our own conversation's."""
    return Templates(
        system=load("system"),
        evidence=load("evidence"),
        instruction=load("instruction"),
        graph=load("graph"),
        plan=load("plan"),
        answer=load("answer"),
        system_plain=load("system-plain"),
        answer_plain=load("answer-plain"),
        own_words=load("own-words"),
        read_inline=load("read-inline"),
        read_indented=load("read-indented"),
        read_plain=load("read-plain"),
    )


@cache
def paper_templates() -> PaperTemplates:
    """Those of Disco-RAG as printed, and of its baselines."""
    return PaperTemplates(
        graph=load("paper-graph"),
        plan=load("paper-plan"),
        full_context=load("paper-full-context"),
        standard=load("paper-standard"),
        retrieve_and_plan=load("paper-retrieve-and-plan"),
        plan_and_retrieve=load("paper-plan-and-retrieve"),
        retrieved=load("paper-retrieved"),
        markers=load("paper-markers"),
        answer=load("paper-answer"),
    )
