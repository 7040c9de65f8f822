"""The benchmark of the prefix cache, in small."""

from __future__ import annotations

import pytest

from bench import prefix
from tests.vllm.server import VllmServer


async def test_one_conversation_recomputes_less_than_separate_calls(
    chat: VllmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefix, "CORPORA", ("tides",))
    monkeypatch.setattr(prefix, "KS", {2: ("standard", "ours", "paper")})
    standard, ours, paper = await prefix.run(chat, prefix.questions(1))
    assert (standard.calls, ours.calls, paper.calls) == (1, 3, 3)
    assert (standard.cached, standard.ratio) == (0, 1)
    assert ours.cached > ours.prompt / 3
    assert ours.recomputed < paper.recomputed
