"""What is remembered of an encoder's work."""

from __future__ import annotations

import numpy as np

from discorag.models.memo import QUESTIONS, MemoEncoder
from discorag.models.protocol import Encoder
from discorag.schema.values import Vectors


class Counted(MemoEncoder):
    """Counts what it is asked for."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self.asked: list[str] = []

    async def encode_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return np.ones(self.dimension, np.float32)


async def test_a_question_is_encoded_once_for_all_stages_and_forgotten_after_others(encoder: Encoder) -> None:
    counted = Counted(encoder)
    remembering = MemoEncoder(counted)
    for _ in range(4):
        await remembering.encode_query("Why?")
    assert counted.asked == ["Why?"]
    for number in range(QUESTIONS):
        await remembering.encode_query(str(number))
    await remembering.encode_query("Why?")
    assert counted.asked.count("Why?") == 2
