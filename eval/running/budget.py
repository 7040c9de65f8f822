"""What a run may spend: every call of a language model is counted, and none is made beyond a limit."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TypeVar

from discorag.config import Role, Settings
from discorag.models.protocol import Encoder, LanguageModel, Reply, Request
from discorag.schema.errors import ModelError, Usage
from discorag.store.store import Store
from eval.errors import BudgetSpentError
from nodes.backends import Backends

T = TypeVar("T")


@dataclass
class Budget:
    """Calls and tokens so far, in and out together, and their limits.

    Calls under way at once may exceed the limit of tokens by what they take, as nobody knows it before they end.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    usage: Usage = field(default_factory=Usage)
    _under_way: int = 0

    def begin(self) -> None:
        """Count a call that is about to be made. Raises `BudgetSpentError` if it is one too many."""
        calls = self.usage.calls + self._under_way
        if self.max_calls is not None and calls >= self.max_calls:
            raise BudgetSpentError(f"The limit of {self.max_calls:,} calls is reached.", hint=_RESUME)
        if self.max_tokens is not None and self.usage.total >= self.max_tokens:
            raise BudgetSpentError(
                f"The limit of {self.max_tokens:,} tokens is reached: {self.usage.total:,} are spent.", hint=_RESUME
            )
        self._under_way += 1

    def end(self, usage: Usage) -> None:
        """Count what a call took."""
        self._under_way -= 1
        self.usage += usage

    @property
    def text(self) -> str:
        """Calls and tokens so far."""
        return f"{self.usage.calls:,} calls, {self.usage.total:,} tokens"


_RESUME = (
    "What was answered is recorded, and replies are cached: run the command again, with a higher limit, to resume."
)


@dataclass(frozen=True)
class MeteredModel(LanguageModel):
    """A language model whose calls are counted."""

    model: LanguageModel
    budget: Budget

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    async def context_tokens(self) -> int:
        """See `LanguageModel.context_tokens`."""
        return await self.model.context_tokens()

    async def complete(self, request: Request[T]) -> Reply[T]:
        """See `LanguageModel.complete`. Raises `BudgetSpentError` too."""
        self.budget.begin()
        usage = Usage()
        try:
            reply = await self.model.complete(request)
            usage = reply.usage
        except ModelError as error:
            usage = error.usage or usage
            raise
        finally:
            self.budget.end(usage)
        return reply

    async def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        """See `LanguageModel.stream`. Raises `BudgetSpentError` too."""
        self.budget.begin()
        usage = Usage()
        try:
            async for part in self.model.stream(request):
                usage = usage if isinstance(part, str) else part.usage
                yield part
        except ModelError as error:
            usage = error.usage or usage
            raise
        finally:
            self.budget.end(usage)


class MeteredBackends(Backends):
    """Backends whose language models, of all roles, are counted in one budget.

    A run reads few of the documents' sentences: questions encode those.
    """

    encodes_sentences = False

    def __init__(
        self, settings: Settings, store: Store, encoder: Encoder, model: LanguageModel | None, budget: Budget
    ) -> None:
        super().__init__(settings, store, encoder, MeteredModel(model, budget) if model else None)
        self._budget = budget

    def model_for(self, role: Role) -> LanguageModel | None:
        """See `Backends.model_for`."""
        model = super().model_for(role)
        return model if model is None or isinstance(model, MeteredModel) else MeteredModel(model, self._budget)
