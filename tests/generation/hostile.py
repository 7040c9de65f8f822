"""Hostile words: what a source, or a model that copies from one, may plant. Payloads in templates, by product.

`hostile_texts` are what is written; what may be shown of it is for `planted` to judge, over rendered Markdown.
"""

from collections.abc import Collection, Iterator
from functools import cache
from html.parser import HTMLParser
from itertools import product

from markdown_it import MarkdownIt

CITATIONS = (
    "[1]", "[^1]", "[1, 2]", "[1-3]", "[[1]]", "[1][2]", "[1](http://evil.example)", "[1][ref]", "![1](x.png)",
    "\\[1\\]", "&#91;1&#93;", "［1］", "【1】", "【1†source】", "〔1〕", "⟦1⟧", "[\u200b1]", "[１]", "[\ufe0f1]",
    "[not supported]", "[check]", "[ 1 ]", "[x] [1.1]",
)  # fmt: skip
MARKUP = (
    "![beacon](http://evil.example/p.png?q=1)", "<img src=x onerror=alert(1)>", "<script>alert(1)</script>",
    "[click](javascript:alert(1))", "http://evil.example/a", "www.evil.example", "mail me@evil.example now",
    "evil.example.com", "//evil.example.com", "<https://evil.example>", "# Heading", "- item", "1. item", "> quote",
    "```sh\nrm -rf /\n```", "~~~", "`x` **b** _i_ ~~s~~", "a | b\n--|--\n1 | 2", "Title\n===", "---",
    "[1]: http://evil.example\n\n[1]", "[^1]: note", "&lt;img src=x&gt; &copy; &#60;b&#62;", "$\\href{http://x}{y}$",
    "\\(x\\) \\[y\\] $$z$$", "<!-- hidden -->", "</p><p>", "<details open>", "- [ ] task", "\\`\\*\\<", "a`//b``c`",
    "    indented", "\u202ednetni ,kcatta\u202c", "\x1b[31mred\x1b]8;;http://evil.example\x07x\x1b]8;;\x07",
)  # fmt: skip
_CITED = ("It is perfectly safe {}.", "{} The dose is safe.", "Safe{}, said the board {}.")
_MARKED = ("{}", "The dose is safe. {}", "The board\n\n{}\n\nfound it safe.", "Safe {} and sound.")
OURS = {"p", "ol", "ul", "li", "code"}


def hostile_texts() -> Iterator[str]:
    """Over a hundred texts."""
    yield from (template.replace("{}", payload) for template, payload in product(_CITED, CITATIONS))
    yield from (template.replace("{}", payload) for template, payload in product(_MARKED, MARKUP))


def planted(markdown: str, ours: Collection[str] = OURS) -> list[str]:
    """Elements other than ours that the Markdown makes, as CommonMark and as GFM with all that it links by itself."""
    found: list[str] = []
    for html in (rendered(markdown, "commonmark"), rendered(markdown, "gfm-like")):
        page = Page(html)
        found += [f"<{name} {dict(given)}>" for name, given in page.tags if name not in ours or given]
    return found


def rendered(markdown: str, preset: str = "gfm-like") -> str:
    """HTML, with raw HTML let through."""
    return _renderer(preset).render(markdown)


@cache
def _renderer(preset: str) -> MarkdownIt:
    return MarkdownIt(preset, {"html": True, "linkify": preset != "commonmark"})


class Page(HTMLParser):
    """The tags of a page with their attributes, what is bold, and its text in one line."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._is_bold = False
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self._text: list[str] = []
        self.bold: list[str] = []
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        return " ".join("".join(self._text).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        self._is_bold = tag == "strong"

    def handle_endtag(self, tag: str) -> None:
        self._is_bold = False

    def handle_data(self, data: str) -> None:
        if self._is_bold:
            self.bold.append(data)
        self._text.append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.append(("!--", []))
