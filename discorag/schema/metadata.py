"""Typed metadata of documents, and filters on them, which say which documents a question may use."""

import json
import math
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, TypeAlias, cast

from pydantic import BeforeValidator, StrictBool, StrictFloat, StrictInt, StrictStr, WithJsonSchema

from discorag.schema.errors import InputError

Scalar: TypeAlias = StrictBool | StrictInt | StrictFloat | StrictStr
"""A date is a text in ISO 8601: JSON, in which metadata are stored and sent, has no other form for it."""
Value: TypeAlias = Scalar | list[Scalar]
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")
_MAX_FILTERS = 100_000  # characters of all keys and values in JSON
_BOUNDS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
_ALLOWED = (
    "Allowed are a text, number, date, true or false, a list of these, any of which may match, or a range of numbers "
    'or dates such as {"gte": 2020, "lt": 2025}.'
)


def as_words(value: Value) -> str:
    """A value as text: a list's values with commas, and all but text as in JSON."""
    if isinstance(value, list):
        return ", ".join(map(as_words, value))
    return value if isinstance(value, str) else json.dumps(value)


def typed(text: str) -> Scalar:
    """The number, true or false that a text is in JSON; the text itself if another text would mean the same.

    >>> [typed(text) for text in ("2024", "1.5", "true", "1.10", "0007", "2024-05-01")]
    [2024, 1.5, True, '1.10', '0007', '2024-05-01']
    """
    try:
        value = json.loads(text)
        is_same = isinstance(value, int | float) and math.isfinite(value) and json.dumps(value) == text
    except (ValueError, OverflowError, RecursionError):
        return text
    return value if is_same else text


def checked_value(key: str, value: object) -> Value:
    """A value that a program gave, as it is stored. Raises `InputError` if it has no such form."""
    if isinstance(value, list | tuple | set | frozenset):
        return [_checked_scalar(key, one) for one in cast("Iterable[object]", value)]
    return _checked_scalar(key, value)


def _checked_scalar(key: str, value: object) -> Scalar:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool | int | float | str):
        return value
    raise InputError(
        f"Metadata {key!r} holds a {type(value).__name__}.",
        hint="Allowed are texts, numbers, dates, true and false, and lists of these.",
    )


@dataclass(frozen=True)
class AnyOf:
    """Accepts what equals one of some texts and numbers."""

    values: tuple[str | float, ...]

    def accepts(self, forms: Iterable[str | float | datetime]) -> bool:
        """Whether one of the forms of a value is among them."""
        return not set(forms).isdisjoint(self.values)


@dataclass(frozen=True)
class Range:
    """Accepts numbers, or dates, within bounds, which `_BOUNDS` names."""

    bounds: Mapping[str, float] | Mapping[str, datetime]

    @property
    def is_of_dates(self) -> bool:
        """Whether the bounds are dates."""
        return isinstance(next(iter(self.bounds.values())), datetime)

    def accepts(self, forms: Iterable[str | float | datetime]) -> bool:
        """Whether one of the forms of a value is within them."""
        kind = datetime if self.is_of_dates else float
        comparable = [form for form in forms if isinstance(form, kind)]
        return any(all(_BOUNDS[name](form, bound) for name, bound in self.bounds.items()) for form in comparable)


Filters: TypeAlias = Mapping[str, AnyOf | Range]
"""Metadata key -> what it must be; all keys must match, and a list does if one of its values does."""


def forms_of(value: Value) -> Iterator[str | float | datetime]:
    """What filters compare: each value's text, and the number or date that it is or that its text names."""
    for scalar in value if isinstance(value, list) else [value]:
        text = as_words(scalar)
        yield text
        if isinstance(scalar, bool):
            continue
        if isinstance(scalar, int | float) or _NUMBER.fullmatch(text):
            yield float(text)
        elif moment := _parse_moment(text):
            yield moment


def accepts(filters: Filters, metadata: Mapping[str, Value], doc_id: str) -> bool:
    """Whether all filters accept a document; ``doc_id`` filters by its id."""
    own = {**metadata, "doc_id": doc_id}
    return all(key in own and wanted.accepts(forms_of(own[key])) for key, wanted in filters.items())


def read_filters(given: object) -> Filters:
    """Read what a caller gave for each key: a value, a list of values or a range. Filters that were read stay as is.

    Raises:
        InputError: A key has something else.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"Filters are a {type(given).__name__}.", hint='Give {"key": ...}. ' + _ALLOWED)
    filters = cast("Mapping[object, object]", given)
    return {str(key): _parse_condition(str(key), wanted) for key, wanted in filters.items()}


def _parse_condition(key: str, wanted: object) -> AnyOf | Range:
    if isinstance(wanted, AnyOf | Range):
        return wanted
    if isinstance(wanted, Mapping) and key != "doc_id":
        return _parse_range(key, cast("Mapping[str, object]", wanted))
    if isinstance(wanted, list | tuple | set | frozenset):
        return AnyOf(tuple(_parse_value(key, value) for value in cast("Iterable[object]", wanted)))
    return AnyOf((_parse_value(key, cast("object", wanted)),))


def _parse_value(key: str, value: object) -> str | float:
    match value:
        case bool():
            return json.dumps(value)
        case int() | float() if abs(value) <= sys.float_info.max:
            return float(value)
        case int() | float():
            raise InputError(f"Filter {key!r} has a number that is not finite or too large.", hint=_ALLOWED)
        case str():
            return value
        case date():
            return value.isoformat()
        case _:
            raise InputError(f"Filter {key!r} has a {type(value).__name__} as a value.", hint=_ALLOWED)


def _parse_range(key: str, given: Mapping[str, object]) -> Range:
    unknown = ", ".join(map(repr, given.keys() - _BOUNDS.keys()))
    if unknown or not given:
        wrong = f"unknown bounds: {unknown}" if unknown else "no bounds"
        raise InputError(f"The range of filter {key!r} has {wrong}.", hint="Bounds are gt, gte, lt and lte.")
    bounds = {name: _parse_bound(key, value) for name, value in given.items()}
    if len({type(bound) for bound in bounds.values()}) > 1:
        raise InputError(f"The range of filter {key!r} mixes numbers and dates.", hint=_ALLOWED)
    return Range(cast("Mapping[str, float]", bounds))


def _parse_bound(key: str, value: object) -> float | datetime:
    bound = _parse_value(key, value)
    if not isinstance(bound, str) or _NUMBER.fullmatch(bound):
        return float(bound)
    if moment := _parse_moment(bound):
        return moment
    hint = "A bound is a number, or a date such as 2024-05-31."
    raise InputError(f"The range of filter {key!r} has the bound {bound!r}.", hint=hint)


def _parse_moment(text: str) -> datetime | None:
    """The moment that a text in ISO 8601 names: a date's is its start, and one without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None
    return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _check_filters(given: object) -> object:
    read_filters(given)
    if (size := len(json.dumps(given, default=str))) > _MAX_FILTERS:
        raise InputError(
            f"Filters have {size:,} characters; the limit is {_MAX_FILTERS:,}.", hint="Give fewer values, or a range."
        )
    return given


FILTERS = "Metadata key -> a value, a list of accepted values, or a range: gt, gte, lt, lte; all keys must match."
"""The description of filters, for schemas."""
_SCALARS: list[dict[str, Any]] = [{"type": kind} for kind in ("string", "number", "boolean")]
_RANGE = {"type": "object", "properties": {name: {"anyOf": _SCALARS[:2]} for name in _BOUNDS}}
GivenFilters = Annotated[
    dict[str, Any],
    BeforeValidator(_check_filters),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"anyOf": [*_SCALARS, {"type": "array", "items": {"anyOf": _SCALARS}}, _RANGE]},
        }
    ),
]
"""Filters as callers give them, checked, of limited size; `read_filters` reads them."""
