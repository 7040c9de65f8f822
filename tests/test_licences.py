"""What users install may be used in any product: no GPL, no AGPL. Tools of development are exempt."""

import re
from importlib.metadata import metadata

from tests.packaging.requirements import CORE, EXTRAS, closure

EXEMPT = {"ray", "vllm"}
"""vLLM and Ray, which are not installed here (Apache-2.0)."""
REVIEWED = {
    "nvidia-": "a CUDA build of torch asks for them; NVIDIA's own licence, nothing of theirs is passed on by us",
    "cuda-": "the same",
}
"""Starts of names whose licence is not one of these, and why that is all right."""
FREE = re.compile(
    r"(The )?(0BSD|[23]-Clause BSD|Apache|BSD|BSL-1|CC0|CNRI-Python|GNU Lesser|ISC|LGPL|MIT|Mozilla|MPL|PSF|Python"
    r"|Zlib)"
)


def is_free(expression: str) -> bool:
    """Whether every part of an SPDX expression offers a licence that is neither GPL nor AGPL."""
    parts = re.split(r"\s+AND\s+(?![^(]*\))", expression.strip())
    return all(any(FREE.match(choice) for choice in part.strip("() ").split(" OR ")) for part in parts)


def stated(name: str) -> list[str]:
    """What a distribution says of its licence: its expression, or else any of classifiers and free text."""
    fields = metadata(name).json
    if expression := fields.get("license_expression"):
        return [str(expression)]
    licences = [c.split(" :: ")[-1] for c in fields.get("classifier", []) if c.startswith("License :: ")]
    return [*licences, str(fields.get("license", "")).split("\n")[0]]


def test_everything_that_core_and_extras_bring_is_free_for_any_use() -> None:
    shipped = [*CORE, *(r for name, listed in EXTRAS.items() if name not in EXEMPT for r in listed)]
    asked = {name: stated(name) for name in closure(shipped) if not name.startswith(tuple(REVIEWED))}
    assert len(asked) > 100
    assert {name: said for name, said in asked.items() if not any(map(is_free, said))} == {}
