"""A language model inside this process, for batches without a server: vLLM's ``LLM``.

Requests that arrive together are generated together; those that arrive meanwhile wait and make the next batch. Ask
many at once (`asyncio.gather`): then a batch is large, and the processor is kept busy. Where a user waits for one
answer, a server serves better: it takes new requests up while others run, and has beam search.

The engine runs in this process (``VLLM_ENABLE_V1_MULTIPROCESSING=0`` unless it is set), since vLLM would otherwise fork
a process that has threads already, or start a script again that does not guard its main part.
"""

# vLLM is installed by an extra only.
# pyright: reportMissingModuleSource=false
from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from discorag.config import LlmSettings
from discorag.models.chat import Draft
from discorag.models.deadline import in_time
from discorag.models.endpoint import says_too_long
from discorag.models.gateway import Gateway
from discorag.models.protocol import Request
from discorag.schema.errors import (
    ConfigError,
    ContextTooLongError,
    ModelError,
    ModelRejectedError,
    ModelUnavailableError,
)
from discorag.schema.usage import Usage

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams

GATHER_S = 0.02
"""How long a batch waits for requests that were made at the same moment as its first, in seconds."""

# Without it a model may pad its JSON with white space to its limit.
_COMPACT = {"backend": "xgrammar", "disable_any_whitespace": True}
_SETUP = 'Run: pip install "disco-rag[vllm]".'
_QUOTE_LIMIT = 500


@dataclass(frozen=True)
class _Job:
    request: Request[Any]
    done: Future[Draft] = field(default_factory=Future[Draft])


class OfflineChat:
    """Generates requests in batches, in a thread of its own (a `discorag.models.gateway.Chat`).

    Args:
        settings: ``model`` is a folder or a name that vLLM can load, ``context_tokens`` its context.
        engine: Further arguments of ``vllm.LLM``, e.g. ``tensor_parallel_size``.

    Raises:
        ConfigError: vLLM is not installed, or cannot load the model.

    Example:
        >>> from discorag.models.offline import OfflineChat
        >>> from discorag.models.protocol import Message, Request
        >>> from discorag.config import LlmSettings
        >>> chat = OfflineChat(LlmSettings(model="a/folder", context_tokens=2048), {})
        >>> request = Request(stage="answer", messages=(Message(role="user", content="tides"),), parse=str)
        >>> (asyncio.run(chat.send(request)).text, chat.stop())[0]
        'About tides'
    """

    def __init__(self, settings: LlmSettings, engine: Mapping[str, Any]) -> None:
        self._jobs = SimpleQueue[_Job | None]()
        self._lock = threading.Lock()
        self._is_open = True
        ready = Future[None]()
        self._thread = threading.Thread(target=self._work, args=(settings, engine, ready), name="vllm", daemon=True)
        self._thread.start()
        ready.result()

    async def send(self, request: Request[Any]) -> Draft:
        """What the model writes; whole, when its batch is through. A request that is given up in time is not generated.

        Raises:
            ContextTooLongError: The prompt does not fit the model's context.
            ModelRejectedError: Beam search; or vLLM refuses the request, for its schema say.
            ModelUnavailableError: The engine failed, was stopped, or was not through by the run's deadline.
        """
        if request.beam_width > 1:
            raise ModelRejectedError(
                f"The offline model has no beam search (beam_width={request.beam_width}).", hint="Serve it with vLLM."
            )
        job = _Job(request)
        with self._lock:
            if not self._is_open:
                raise ModelUnavailableError("The offline model was stopped.", hint="Open the resources again.")
            self._jobs.put(job)
        try:
            async with in_time():
                return await asyncio.wrap_future(job.done)
        except TimeoutError as error:
            raise ModelUnavailableError("The offline model did not answer in time.", hint="Ask it for less.") from error

    async def stream(self, request: Request[Any]) -> AsyncGenerator[str | Draft, None]:
        """The text in one piece, then the draft. Raises as `send`."""
        draft = await self.send(request)
        if draft.text:
            yield draft.text
        yield draft

    async def aclose(self) -> None:
        """Nothing to close: no event loop has anything of its own here."""

    def stop(self) -> None:
        """Generate what was asked for before, then unload the model; a second call does nothing."""
        with self._lock:
            if self._is_open:
                self._jobs.put(None)
            self._is_open = False
        self._thread.join()

    def _work(self, settings: LlmSettings, engine: Mapping[str, Any], ready: Future[None]) -> None:
        try:
            llm = _loaded(settings, engine)
        except BaseException as error:  # noqa: BLE001  the constructor waits for it and raises it
            ready.set_exception(error)
            return
        ready.set_result(None)
        ended = False
        while not ended:
            jobs = self._arrived()
            ended = None in jobs
            _generate(llm, [job for job in jobs if job is not None and job.done.set_running_or_notify_cancel()])

    def _arrived(self) -> list[_Job | None]:
        jobs = [self._jobs.get()]
        time.sleep(GATHER_S)
        while not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs


class OfflineModel(Gateway):
    """A gateway with the model itself behind it: checks, repair, counts and disk cache are those of an endpoint.

    Args:
        settings: ``model``, ``context_tokens`` and ``cache``; the rest is about endpoints.
        **engine: See `OfflineChat`.

    Raises:
        ConfigError: ``settings`` name an endpoint too; else as `OfflineChat`.

    Example:
        >>> from discorag.models.offline import OfflineModel
        >>> from discorag.models.protocol import Message, Request
        >>> from discorag.config import LlmSettings
        >>> model = OfflineModel(LlmSettings(model="a/folder", context_tokens=2048, cache=None), dtype="bfloat16")
        >>> request = Request(stage="answer", messages=(Message(role="user", content="tides"),), parse=str)
        >>> (asyncio.run(model.complete(request)).text, model.stop())[0]
        'About tides'
    """

    def __init__(self, settings: LlmSettings, **engine: Any) -> None:
        if settings.base_url is not None:
            raise ConfigError(
                f"The language model is to be both offline and at {settings.base_url}.",
                hint="Unset DISCO_RAG_LLM__BASE_URL or DISCO_RAG_LLM__KIND.",
            )
        self._offline = OfflineChat(settings, engine)
        super().__init__(settings, chat=self._offline)

    def stop(self) -> None:
        """Unload the model, see `OfflineChat.stop`."""
        self._offline.stop()


def _loaded(settings: LlmSettings, engine: Mapping[str, Any]) -> LLM:
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    try:
        from vllm import LLM
        from vllm.exceptions import VLLMError
    except ImportError as error:
        raise ConfigError(f"vLLM cannot be loaded: {error}.", hint=_SETUP) from error
    defaults = {"max_model_len": settings.context_tokens, "structured_outputs_config": _COMPACT}
    try:
        return LLM(settings.model, **{**defaults, **engine})
    except (VLLMError, OSError, ValueError, RuntimeError, TypeError) as error:
        raise ConfigError(
            f"vLLM does not load the model '{settings.model}': {str(error)[:_QUOTE_LIMIT]}",
            hint="Set DISCO_RAG_LLM__MODEL to a model's folder or name, and DISCO_RAG_LLM__CONTEXT_TOKENS to what it "
            "and the memory allow.",
        ) from error


def _generate(llm: LLM, jobs: Sequence[_Job]) -> None:
    """Settle every job. One bad request fails a whole batch in vLLM: its requests are then generated one by one."""
    if not jobs:
        return
    turns = [[message.model_dump() for message in job.request.messages] for job in jobs]
    try:
        outputs = llm.chat(turns, [_sampling(job.request) for job in jobs], use_tqdm=False)
    except Exception as error:  # noqa: BLE001  whatever it is, those who wait must hear of it
        _fail(llm, jobs, error)
        return
    for job, output in zip(jobs, outputs, strict=True):
        job.done.set_result(_draft(output))


def _fail(llm: LLM, jobs: Sequence[_Job], error: Exception) -> None:
    if len(jobs) == 1:
        jobs[0].done.set_exception(_as_model_error(error))
        return
    for job in jobs:
        _generate(llm, [job])


def _sampling(request: Request[Any]) -> SamplingParams:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    schema = StructuredOutputsParams(json=request.schema) if request.schema else None
    return SamplingParams(temperature=request.temperature, max_tokens=request.max_tokens, structured_outputs=schema)


def _draft(output: RequestOutput) -> Draft:
    written = output.outputs[0]
    usage = Usage(
        calls=1,
        tokens_in=len(output.prompt_token_ids or ()),
        tokens_out=len(written.token_ids),
        tokens_cached=output.num_cached_tokens or 0,
    )
    return Draft(text=written.text, finish_reason=written.finish_reason or "", usage=usage)


def _as_model_error(error: Exception) -> ModelError:
    from vllm.exceptions import VLLMClientError

    said = str(error)[:_QUOTE_LIMIT]
    if not isinstance(error, VLLMClientError | ValueError):
        return ModelUnavailableError(f"The offline model failed: {said or error!r}", hint="See vLLM's log.")
    if says_too_long(said):
        return ContextTooLongError(f"vLLM says the input is too long: {said}", hint="Send less text.")
    return ModelRejectedError(f"vLLM refused the request: {said}", hint="Check its schema and its limits.")
