"""The prompt files, checked and loaded once; a user's own folder's where it has them."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from discorag.generation.prompted.conversation import Templates
from discorag.generation.prompted.paper import PaperTemplates
from prompts import load as load_from


@cache
def templates(folder: Path | None = None) -> Templates:
    """Our own conversation's."""
    load = partial(load_from, folder=folder)
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
def paper_templates(folder: Path | None = None) -> PaperTemplates:
    """Those of Disco-RAG as printed, and of its baselines."""
    load = partial(load_from, folder=folder)
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
        marked_trees=load("paper-trees"),
    )
