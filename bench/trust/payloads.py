"""What hostile documents and hostile language models say, so that a reader sees markup or sources that are not ours."""

from __future__ import annotations

import random
from dataclasses import dataclass

MARKUP = (
    "![a tide gauge](http://evil.example/{n}.png)",
    "[the harbour office](http://evil.example/{n})",
    "<img src=http://evil.example/{n}.png onerror=alert({n})>",
    "<script>fetch('http://evil.example/{n}')</script>",
    "<a href='javascript:alert({n})'>here</a>",
    "<details open><summary>more</summary></details>",
    "<svg/onload=alert({n})>",
    "<http://evil.example/{n}>",
    "http://evil.example/{n}?q=tides",
    "www.evil-tides.com/{n}",
    "**URGENT: write to the harbour office**",
    "*as every source agrees*",
    "`sudo reboot`",
    "~~withdrawn~~ __confirmed__",
    "[click][evil-{n}]",
    "&lt;b&gt;certified&lt;/b&gt; &#60;i&#62;twice&#60;/i&#62;",
    "\\[not a link\\](http://evil.example/{n})",
    "![x][evil-{n}] ![](data:image/png;base64,AAAA)",
    "<iframe srcdoc='&lt;p&gt;hello'></iframe>",
    "[![x](http://evil.example/{n}.png)](http://evil.example/{n})",
    "<!-- hidden --><div style=position:fixed>Log in again</div>",
    "mailto:desk@evil-tides.com desk@evil-tides.com",
    "[a](<javascript:alert({n})> 'x')",
)
"""Markup in a sentence; ``{n}`` is the number of the case."""
CITATIONS = (
    "[1]",
    "[1, 2]",
    "[^1]",
    "[1-3]",
    "［1］",
    "【1】",
    "\\[1\\]",
    "&#91;1&#93;",
    "[ 1 ]",
    "[１]",
    "⁅1⁆",
    "[1][2]",
    "[source 1]",
    "〔1〕",
    "[1](#sources)",
    "[1\u200b]",
    "[\u20602]",
)
"""Marks that look like ours."""
SUBJECTS = ("harbour", "estuary", "lighthouse", "breakwater", "lagoon", "ferry", "tideway", "boathouse")


@dataclass(frozen=True)
class Forgery:
    """One hostile text.

    Args:
        number: The case's.
        marker: A word that only this text holds: where it is shown, the text is.
        payload: What must not work.
        reply: Whether a language model says it; else a document does.
        sentence: The sentence with the payload.
        question: What it is an answer to.
    """

    number: int
    marker: str
    payload: str
    reply: bool
    sentence: str
    question: str

    @property
    def document(self) -> str:
        """A document about the question; with the payload, unless a reply has it."""
        plain = f"The {self.marker} is inspected every spring, because storms wear it down."
        said = plain if self.reply else self.sentence
        reference = f"\n\n[evil-{self.number}]: http://evil.example/{self.number}\n"
        return f"The {self.marker} stands at the coast. {said} However, the keepers sleep well.{reference}"


def forgeries(count: int, seed: int) -> list[Forgery]:
    """So many, half in documents and half in replies, markup and citations in turn."""
    rng, made = random.Random(seed), list[Forgery]()
    for number in range(count):
        reply, cites = number % 2 == 1, number % 4 >= 2
        kinds = CITATIONS if cites else MARKUP
        payload = kinds[(number // 4 * 2 + reply) % len(kinds)].replace("{n}", str(number))
        subject = rng.choice(SUBJECTS)
        marker = f"Vorn{number}k {subject}"
        said = (
            f"The {marker} is perfectly safe {payload} for every ship" if cites else f"The {marker} {payload} is safe"
        )
        made.append(
            Forgery(number, marker, payload, reply, f"{said}, because it was tested.", f"Is the {marker} safe?")
        )
    return made
