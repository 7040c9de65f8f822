"""A router in a folder: what `training.sft` wrote, before it is served."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import prompts
from discorag.retrieval.routers.decide import route_prompt
from discorag.retrieval.routers.forms import TAGGED
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree
from discorag.schema.errors import InvalidOutputError

MOST_TOKENS = 256


class FolderRouter:
    """A `Router` by transformers, in the form of its examples: greedy, one call, without repair."""

    def __init__(self, folder: Path) -> None:
        import torch
        import transformers

        library: Any = transformers
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._tokenizer: Any = library.AutoTokenizer.from_pretrained(folder)
        self._model: Any = library.AutoModelForCausalLM.from_pretrained(folder).to(self._device).eval()

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """What the model selects and unfolds. Raises `InvalidOutputError` if its reply cannot be read."""
        prompt = route_prompt(prompts.load(TAGGED.prompt), TAGGED, question, subtree)
        reply = await asyncio.to_thread(self._reply, prompt)
        try:
            return TAGGED.read(reply, subtree)
        except ValueError as error:
            raise InvalidOutputError(str(error), hint="Train it longer.") from error

    def _reply(self, prompt: str) -> str:
        turns = [{"role": "user", "content": prompt}]
        given: Any = self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_tensors="pt", return_dict=True
        ).to(self._device)
        tokens: Any = self._model.generate(**given, max_new_tokens=MOST_TOKENS, do_sample=False)
        return self._tokenizer.decode(tokens[0, given["input_ids"].shape[1] :], skip_special_tokens=True)
