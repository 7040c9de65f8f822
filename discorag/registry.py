"""Parts by name: parsers, retrievers, encoders, rerankers.

Users choose parts by these names. Our own parts are imported when they are asked for, so that listing the names is
quick. Another package adds a part by an entry point of the registry's group, or by calling the kind's ``register_*``
function before the part is asked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from discorag.schema.errors import ConfigError, UnknownNameError

P = TypeVar("P")


@dataclass(frozen=True)
class _Offer(Generic[P]):
    """A part, or where it is imported from when it is asked for."""

    part: P | EntryPoint
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
        self._has_foreign = False

    def offer(self, name: str, where: str, help: str) -> None:
        """A part of ours that is imported when it is asked for: ``where`` is ``module:attribute``."""
        self._offers[name] = _Offer(EntryPoint(name, where, self.group), help)

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
        part = self._all[self.check(name)].part
        return cast(P, part.load()) if isinstance(part, EntryPoint) else part

    def check(self, name: str, also: tuple[str, ...] = ()) -> str:
        """Return the name. Raises `UnknownNameError` with the known names if it is neither known nor in ``also``."""
        if name not in self and name not in also:
            known = ", ".join((*also, *self)) or "none"
            raise UnknownNameError(f"There is no {self.kind} {name!r}.", hint=f"Known names: {known}.")
        return name

    def described(self) -> str:
        """All names with their lines of help, for help texts and schemas."""
        return "; ".join(f"{name}: {offer.help}" if offer.help else name for name, offer in self._all.items())

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter([*self._all])

    def __len__(self) -> int:
        return len(self._all)

    @property
    def _all(self) -> dict[str, _Offer[P]]:
        """All parts, ours first; those of other packages are looked for once."""
        if not self._has_foreign:
            self._has_foreign = True
            for point in entry_points(group=self.group):
                source = f"of {point.dist.name}" if point.dist else "of another package"
                self._offers.setdefault(point.name, _Offer(point, source))
        return self._offers


@dataclass(frozen=True)
class Named:
    """Annotate a string with it: only the registry's names and those in ``also`` are valid; the schema lists them."""

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
