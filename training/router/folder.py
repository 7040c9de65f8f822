"""A language model in a folder, behind the gateway: what `training.sft` wrote, before it is served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from discorag.models.chat import Draft
from discorag.models.protocol import Request
from discorag.schema.errors import Usage


class FolderChat:
    """A `discorag.models.gateway.Chat` by transformers, one call at a time, greedy, without schemas."""

    def __init__(self, folder: Path) -> None:
        import torch
        import transformers

        library: Any = transformers
        self._torch, self._device = torch, "cuda" if torch.cuda.is_available() else "cpu"
        self._tokenizer: Any = library.AutoTokenizer.from_pretrained(folder)
        self._model: Any = library.AutoModelForCausalLM.from_pretrained(folder).to(self._device).eval()

    async def context_tokens(self) -> int:
        """The model's window."""
        return int(self._model.config.max_position_embeddings)

    async def send(self, request: Request[Any]) -> Draft:
        """One reply."""
        return await asyncio.to_thread(self._send, request)

    async def stream(self, request: Request[Any]) -> AsyncGenerator[str | Draft, None]:
        """The reply as one piece."""
        yield await self.send(request)

    def _send(self, request: Request[Any]) -> Draft:
        turns = [turn.model_dump() for turn in request.messages]
        given: Any = self._tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_tensors="pt", return_dict=True
        ).to(self._device)
        start = given["input_ids"].shape[1]
        with self._torch.inference_mode():
            made: Any = self._model.generate(**given, max_new_tokens=request.max_tokens, do_sample=False)[0, start:]
        text = self._tokenizer.decode(made, skip_special_tokens=True)
        reason = "length" if len(made) >= request.max_tokens else "stop"
        return Draft(text=text, finish_reason=reason, usage=Usage(calls=1, tokens_in=start, tokens_out=len(made)))
