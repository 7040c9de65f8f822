"""Parts by name: parsers, retrievers, encoders, rerankers, NLI models.

What users may choose is looked up here, ours and other packages' alike. Ours are references that are imported when they
are asked for, so that knowing the names costs nothing. Another package adds a part without touching ours: by an entry
point of the registry's group, or by calling the kind's ``register_*`` function before the part is asked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from discorag.schema.errors import ConfigError, UnknownNameError

P = TypeVar("P")


@dataclass(frozen=True)
class _Where:
    """A part that is not imported yet, as ``module:attribute``."""

    name: str


@dataclass(frozen=True)
class _Offer(Generic[P]):
    """A part that was registered, or where it is found."""

    part: P | _Where
    help: str


class Registry(Mapping[str, P]):
    """The parts of one kind by name.

    Args:
        kind: What they are, for messages: "parser".
        group: Entry points of this group are parts of other packages.

    Example:
        >>> from discorag.registry import Registry
        >>> greetings = Registry[tuple[str, ...]]("greeting", "example.greetings")
        >>> greetings.register("short", ("Hi",), help="for friends")
        >>> greetings["short"], list(greetings)
        (('Hi',), ['short'])
        >>> greetings["long"]
        Traceback (most recent call last):
        discorag.schema.errors.UnknownNameError: There is no greeting 'long'. Known names: short.
    """

    def __init__(self, kind: str, group: str) -> None:
        self.kind, self.group = kind, group
        self._offers: dict[str, _Offer[P]] = {}

    def offer(self, name: str, where: str, help: str) -> None:
        """A part of ours that is imported when it is asked for: ``where`` is ``module:attribute``."""
        self._offers[name] = _Offer(_Where(where), help)

    def register(self, name: str, part: P, *, help: str = "") -> None:
        """Add a part.

        Raises:
            ConfigError: The name is taken.
        """
        if name in self:
            raise ConfigError(f"There is a {self.kind} {name!r} already.", hint="Choose another name.")
        self._offers[name] = _Offer(part, help)

    def __getitem__(self, name: str) -> P:
        """The part. Raises `UnknownNameError`, or whatever importing another package's part raises."""
        self.check(name)
        if name not in self._offers:
            return cast(P, self._foreign[name].load())
        part = self._offers[name].part
        return cast(P, resolve_name(part.name)) if isinstance(part, _Where) else part

    def check(self, name: str, also: tuple[str, ...] = ()) -> str:
        """Return the name. Raises `UnknownNameError` with the known names if it is neither known nor in ``also``."""
        if name not in self and name not in also:
            known = ", ".join((*also, *self)) or "none"
            raise UnknownNameError(f"There is no {self.kind} {name!r}.", hint=f"Known names: {known}.")
        return name

    def help(self, name: str) -> str:
        """The line of help; for a part of another package, with the name of the package."""
        if name in self._offers:
            return self._offers[name].help
        dist = self._foreign[name].dist
        return f"of {dist.name}" if dist else "of another package"

    def described(self) -> str:
        """All names with their lines of help, for help texts and schemas."""
        return "; ".join(f"{name}: {text}" if (text := self.help(name)) else name for name in self)

    def __contains__(self, name: object) -> bool:
        return name in self._offers or name in self._foreign

    def __iter__(self) -> Iterator[str]:
        return iter([*self._offers, *(n for n in self._foreign if n not in self._offers)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    @cached_property
    def _foreign(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}


@dataclass(frozen=True)
class Named:
    """Makes a string a name of a registry, or one of those that are known ``also``; its schema lists them all.

    Example:
        >>> from typing import Annotated
        >>> from pydantic import TypeAdapter
        >>> from discorag.registry import Named
        >>> from discorag.discourse.parse.parser import PARSERS
        >>> TypeAdapter(Annotated[str, Named(PARSERS, ("none",))]).json_schema()["enum"]
        ['none', 'local', 'rules', 'paper']
    """

    registry: Registry[Any]
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.also, *self.registry)

    def check(self, name: str) -> str:
        """The name again. Raises ``ValueError`` with the known ones."""
        if name not in self.names:
            raise ValueError(f"There is no {self.registry.kind} {name!r}. Known names: {', '.join(self.names)}")
        return name

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "enum": list(self.names)}
