from collections.abc import Sequence
from typing import Any

class SamplingParams:
    def __init__(
        self, *, temperature: float, max_tokens: int, structured_outputs: object | None = ..., seed: int | None = ...
    ) -> None: ...

class CompletionOutput:
    text: str
    token_ids: Sequence[int]
    finish_reason: str | None

class RequestOutput:
    prompt_token_ids: list[int] | None
    outputs: list[CompletionOutput]
    num_cached_tokens: int | None

class LLM:
    def __init__(self, model: str, **engine: Any) -> None: ...
    def chat(
        self,
        messages: Sequence[list[dict[str, str]]],
        sampling_params: Sequence[SamplingParams],
        use_tqdm: bool = ...,
    ) -> list[RequestOutput]: ...
