"""What the pipeline needs of models: an encoder, a parser, and (optionally) a language model behind the gateway."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from discorag.schema.answer import Outcome
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import Usage
from discorag.schema.values import Vectors

T = TypeVar("T")


class TokenCounter(Protocol):
    """Counts and locates the tokens of the encoder's tokenizer."""

    @property
    def max_tokens(self) -> int:
        """The encoder's window, special tokens included."""
        ...

    @property
    def special_tokens(self) -> int:
        """How many special tokens are added to one text."""
        ...

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The character ranges of the tokens of each text, without special tokens."""
        ...


class Encoder(Protocol):
    """Texts to unit vectors."""

    @property
    def version(self) -> str:
        """Model and settings that shape its vectors; stored, and compared on opening."""
        ...

    @property
    def tokens(self) -> TokenCounter:
        """Its tokenizer (for an endpoint that names none: the packaged one, as an estimate)."""
        ...

    @property
    def dimension(self) -> int:
        """Length d of a vector."""
        ...

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d), float32. Raises `ModelError` if an endpoint fails."""
        ...

    async def encode_query(self, text: str) -> Vectors:
        """Unit vector of a query after the model's query instruction, shape (d,). Raises as `encode_documents`."""
        ...


class TreeParser(Protocol):
    """Parses chunks.

    If it is also a `discorag.discourse.parse.parser.UnitParser`, it makes the trees of retrievers, too.
    """

    @property
    def name(self) -> str:
        """The model, for the ledger."""
        ...

    @property
    def version(self) -> str:
        """Names everything that shapes its trees; if it changes, stored documents are parsed again."""
        ...

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        """The tree over the text of ``chunk``, in document offsets. Its EDUs hold all characters but white space.

        Raises:
            ModelError: From parsers that call a model.
        """
        ...


class Template(Protocol):
    """A prompt file as the core sees it: text with named variables (`prompts.load` makes them)."""

    @property
    def hash(self) -> str:
        """Digest of the file, for the ledger."""
        ...

    def render(self, **variables: str) -> str:
        """The text with every variable put in. Raises ``ValueError`` for a missing or unknown variable."""
        ...


class Message(BaseModel, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class Request(Generic[T]):
    """One call of a language model.

    Args:
        stage: Name under which tokens and failures are counted.
        messages: The conversation so far, the last turn being the user's.
        parse: Turns the text into a value; raises ``ValueError`` with a message that a model can act on.
        cut: Returns the usable part of a text that hit its token limit, which is then parsed like any other; raises
            ``ValueError`` if there is none. None: no part of it is usable.
        schema: JSON schema that the server is asked to enforce; ``parse`` checks again, always.
        max_tokens: Limit of the output.
        temperature: Sampling temperature; None: the model's own.
        beam_width: Above 1 asks for beam search (vLLM); servers then ignore the schema.
    """

    stage: str
    messages: tuple[Message, ...]
    parse: Callable[[str], T]
    cut: Callable[[str], str] | None = None
    schema: dict[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float | None = 0.0
    beam_width: int = 1


@dataclass(frozen=True, kw_only=True)
class Reply(Generic[T]):
    """A checked output: ``text`` as the model wrote it, ``value`` as ``parse`` returned it.

    ``cut`` means that the output reached its limit; ``text`` is then the part that was kept.
    """

    text: str
    value: T
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = ""
    cut: bool = False


class LanguageModel(Protocol):
    """A language model: what the steps of the pipeline call to get text."""

    @property
    def name(self) -> str:
        """Model name, for the ledger."""
        ...

    async def context_tokens(self) -> int:
        """The most tokens of prompt and output together. Raises `ModelError` if the server is asked and fails."""
        ...

    async def complete(self, request: Request[T]) -> Reply[T]:
        """One call: schema-constrained, checked, repaired once.

        Raises:
            ContextTooLongError: The prompt cannot fit; nothing was sent unless the endpoint said so.
            ModelUnavailableError: Timeout, connection error or 5xx to the end; or not called after several of these.
            RateLimitedError: 429 to the end.
            ModelRejectedError: 400, 401, 403, 404, or a reply that cannot be read.
            OutputTruncatedError: Cut off at ``max_tokens``, also after the repair.
            InvalidOutputError: Empty, refused or not accepted by ``parse``, also after the repair.
                All carry the usage of the calls already paid as ``error.usage``.
        """
        ...

    def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        """The same for free text: pieces of text as they come, at last the checked reply.

        Where the reply's text differs from the joined pieces it was repaired: show it in their place.
        """
        ...
