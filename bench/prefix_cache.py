"""What a server's prefix cache saves: how much of a prompt is already computed because an earlier request began so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from discorag.types.errors import InvariantError

_Block: TypeAlias = tuple[int, ...]
_Held: TypeAlias = "dict[_Block, _Held]"


class PrefixCache:
    """The tokens that a server holds, in whole blocks, each reachable only by all the blocks before it.

    This is the rule of vLLM's automatic prefix caching: only full blocks are kept, a block counts as the same only
    when everything before it is the same, and at most ``len(prompt) - 1`` tokens are looked up
    (``KVCacheManager.get_computed_blocks``), because the last position must be computed to get logits. A prompt that
    is held to its end and fills its last block therefore computes that whole block again. Nothing is ever evicted.

    Args:
        block: Tokens a block; vLLM's default on a GPU is 16.

    Raises:
        InvariantError: ``block`` is below 1.
    """

    def __init__(self, block: int = 16) -> None:
        if block < 1:
            raise InvariantError(f"A block of {block} tokens holds nothing.", hint="Use the server's block size.")
        self._block = block
        self._held: _Held = {}

    def reused(self, prompt: Sequence[int]) -> int:
        """Tokens of ``prompt`` that need not be computed: a multiple of the block, at most ``len(prompt) - 1``."""
        at, found = self._held, 0
        for block in self._blocks(prompt[:-1]):
            if block not in at:
                break
            at, found = at[block], found + self._block
        return found

    def hold(self, tokens: Sequence[int]) -> None:
        """Keep what a request has computed: its prompt and its output, except the last token that was sampled.

        That token was never fed back, so a server holds nothing of it; usually it is the one that ends the turn.
        """
        at = self._held
        for block in self._blocks(tokens):
            at = at.setdefault(block, {})

    def _blocks(self, tokens: Sequence[int]) -> Iterator[_Block]:
        whole = len(tokens) - len(tokens) % self._block
        return (tuple(tokens[i : i + self._block]) for i in range(0, whole, self._block))
