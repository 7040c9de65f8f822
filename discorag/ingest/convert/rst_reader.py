"""Reads reStructuredText with docutils, also where it is written for Sphinx.

Roles and directives that docutils does not know keep their text. What Sphinx would take from other files or from code
is counted as not read.
"""

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast
from unittest.mock import patch

from docutils import nodes, utils
from docutils.core import publish_doctree, publish_from_doctree  # pyright: ignore[reportUnknownVariableType]
from docutils.languages import en
from docutils.parsers.rst import Directive, directives, roles

_SETTINGS = {
    "_disable_config": True,  # no docutils.conf is read
    "doctitle_xform": False,  # a heading is a heading
    "file_insertion_enabled": False,
    "halt_level": 6,
    "initial_header_level": 1,
    "line_length_limit": 10**9,
    "raw_enabled": False,
    "report_level": 6,
    "syntax_highlight": "none",
    "warning_stream": False,
}
_FOR_SPHINX = {"orphan", "tocdepth", "nocomments", "nosearch"}
_CHANGES = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_UNSEEN = {
    *("codeauthor", "contents", "cssclass", "currentmodule", "default-domain", "highlight", "index", "meta", "module"),
    *("py:currentmodule", "py:module", "rst-class", "sectionauthor", "tabularcolumns", "testcleanup", "testsetup"),
    "toctree",
}
_ELSEWHERE = {
    **dict.fromkeys(("include", "literalinclude"), "included file"),
    **dict.fromkeys(("digraph", "graph", "graphviz", "mermaid", "plantuml", "uml"), "diagram"),
    "raw": "raw block",
}
_LITERAL = {"doctest", "ipython", "jupyter-execute", "productionlist", "prompt", "testcode", "testoutput"}
_ONLY_CONTENT = {"glossary", "grid", "hlist", "ifconfig", "only", "tab-set", "tabs"}
_EXPLICIT = re.compile(r"(.+?)\s*<[^<>]+>", re.DOTALL)


def html_of(text: str) -> tuple[str, str, Counter[str]]:
    """The body of a file as HTML, the title that a directive gives it, and what it holds that is not read."""
    with _tolerance():
        document = publish_doctree(text, settings_overrides=_SETTINGS)
    unread = Counter(_removed(document))
    for node in [*document.findall()]:
        _simplify(node)
    settings = _SETTINGS | {"embed_stylesheet": False}
    html = cast("bytes", publish_from_doctree(document, writer="html5", settings_overrides=settings))
    return html.decode(), str(document.get("title", "")), unread


class _Unread(nodes.Invisible, nodes.Element):
    """Stands for something that Sphinx would take from elsewhere; its first class says what."""


class _Options(dict[str, Any]):
    """Options of a directive, and all others, which are not looked at."""

    def __missing__(self, name: str) -> Any:
        return str


class _Unknown(Directive):
    """A directive that docutils does not know: its content, below its argument."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _Options(name=str)

    def run(self) -> Sequence[nodes.Node]:
        """The nodes that a reader sees of it."""
        name = self.name.lower()
        if name in _UNSEEN:
            return []
        if kind := "generated section" if name.startswith("auto") else _ELSEWHERE.get(name):
            return [_Unread(classes=[kind])]
        source = "\n".join(self.content)
        if name in _LITERAL:
            return [nodes.literal_block(source, source)]
        inside = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inside)
        if name in _ONLY_CONTENT or not self.arguments:
            return inside.children
        if name in _CHANGES:
            return self._change(_CHANGES[name], inside)
        title = ", ".join(line.strip() for line in self.arguments[0].splitlines())
        if not inside.children:
            return [nodes.paragraph("", title)]
        entry = nodes.definition_list_item("", nodes.term("", title), nodes.definition("", *inside.children))
        return [nodes.definition_list("", entry)]

    def _change(self, label: str, inside: nodes.Element) -> Sequence[nodes.Node]:
        version, _, text = " ".join(self.arguments[0].split()).partition(" ")
        parsed, messages = self.state.inline_text(text, self.lineno)
        if parsed:
            inside.insert(0, nodes.paragraph("", "", *parsed))
        _begin(inside, f"{label} {version}: " if inside.children else f"{label} {version}.")
        return [*inside.children, *messages]


def _text_of_role(_role: str, _source: str, text: str, *_: object, **__: object) -> tuple[list[nodes.Node], list[Any]]:
    """A role that docutils does not know: its text, or its title if it has one."""
    shown = utils.unescape(text)
    titled = _EXPLICIT.fullmatch(shown)
    return [nodes.Text(titled[1] if titled else re.sub(r"^[~!](?=[\w.])", "", shown))], []


@cache
def _tolerant(known: type[Directive]) -> type[Directive]:
    return type(known.__name__, (known,), {"option_spec": _Options(known.option_spec or {"name": str})})


@contextmanager
def _tolerance() -> Generator[None]:
    """While it lasts docutils takes any role, directive and option; Sphinx replaces the same two functions."""
    find_directive, find_role = directives.directive, roles.role

    def directive(name: str, language: Any, document: nodes.document) -> tuple[type[Directive], list[Any]]:
        found, _ = find_directive(name, language, document)
        is_ours = found is None or name.lower() in _UNSEEN or name.lower() in _ELSEWHERE
        return _Unknown if is_ours else _tolerant(found), []

    def role(name: str, language: Any, lineno: int, reporter: Any) -> tuple[Any, list[Any]]:
        found, _ = find_role(name, language, lineno, reporter)
        return found or _text_of_role, []

    with patch.object(directives, "directive", directive), patch.object(roles, "role", role):
        yield


def _removed(document: nodes.document) -> Iterator[str]:
    """Take out what a reader does not see, and yield what of it is not read."""
    for node in [*document.findall(_is_hidden)]:
        node.parent.remove(node)
    for node in [*document.findall(nodes.Element)]:
        match node:
            case _Unread() | nodes.image():
                yield "image" if isinstance(node, nodes.image) else node["classes"][0]
                node.parent.remove(node)
            case nodes.system_message():
                node.parent.replace(node, [*node.findall(nodes.literal_block)])
            case _:
                pass


def _is_hidden(node: nodes.Node) -> bool:
    is_for_sphinx = isinstance(node, nodes.field) and node[0].astext() in _FOR_SPHINX
    return is_for_sphinx or isinstance(node, (nodes.comment, nodes.substitution_definition))


def _simplify(node: nodes.Node) -> None:
    """Say in words what HTML says with style sheets: labels of admonitions and notes, types of terms."""
    match node:
        case nodes.Element() if isinstance(node, nodes.Admonition):
            title = node.pop(0).astext() if isinstance(node, nodes.admonition) else en.labels[node.tagname]
            _begin(node, f"{title}: ")
            node.replace_self(nodes.container("", *node.children))
        case nodes.footnote() | nodes.citation():
            _begin(node, f"[{node.pop(0).astext()}] ")
        case nodes.classifier():
            node.insert(0, nodes.Text(" : "))
        case _:
            pass


def _begin(node: nodes.Element, text: str) -> None:
    """Put a text before the first paragraph, or instead of it."""
    first = node[0] if node.children else None
    if not isinstance(first, nodes.paragraph):
        first = nodes.paragraph()
        node.insert(0, first)
    first.insert(0, nodes.Text(text))
