"""Filters as the command line writes them."""

import re
from collections.abc import Iterable
from typing import Any

from discorag.schema.errors import InputError

_FILTER = re.compile(r"([^=<>]+)(<=|>=|<|>|=)(.*)", re.DOTALL)
_BOUNDS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}


def parse_filters(written: Iterable[str]) -> dict[str, Any]:
    """The filters of a question; of values for one key any may match, and bounds for one key make a range.

    >>> parse_filters(["kind=trial", "kind=review", "year>=2020", "year<2025"])
    {'kind': ['trial', 'review'], 'year': {'gte': '2020', 'lt': '2025'}}

    Raises:
        InputError: One has no sign, or a key has both values and bounds.
    """
    values, ranges = dict[str, list[str]](), dict[str, dict[str, str]]()
    for one in written:
        match = _FILTER.fullmatch(one)
        if match is None:
            raise InputError(
                f"--filter {one} is not of the form key=value.", hint="Or key>=value, with >, >=, < or <=."
            )
        key, sign, value = match[1].strip(), match[2], match[3].strip()
        if sign == "=":
            values.setdefault(key, []).append(value)
        else:
            ranges.setdefault(key, {})[_BOUNDS[sign]] = value
    if both := values.keys() & ranges.keys():
        raise InputError(f"--filter has values and bounds for {', '.join(both)}.", hint="Give one of the two.")
    return {**values, **ranges}
