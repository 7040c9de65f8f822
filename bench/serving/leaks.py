"""A document that only one tenant has: if its word is ever seen by another one, something leaks."""

from __future__ import annotations


def made_text(name: str, word: str) -> str:
    """A document of its own for the tenant with this word; but for the word the same for all."""
    return (
        f"# Harbour archive, {name}\n\nThe harbour archive keeps the ledger {word}. The report on the ledger {word} "
        f"was signed by the keeper of {word}, because the secret word is {word}.\n\nHowever, nobody outside the "
        f"archive has read {word}. The keeper says that {word} stays where it is."
    )
