"""The prefix cache: what is found again, in whole blocks."""

from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.prefix_cache import PrefixCache
from discorag.types.errors import InvariantError

TOKENS = st.lists(st.integers(0, 2), max_size=40)  # few different tokens, so that prefixes are often shared


def holding(*sequences: list[int], block: int = 4) -> PrefixCache:
    cache = PrefixCache(block)
    for tokens in sequences:
        cache.hold(tokens)
    return cache


def shared(a: list[int], b: list[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def test_nothing_is_reused_of_an_empty_cache() -> None:
    assert PrefixCache().reused(list(range(100))) == 0


def test_the_default_block_is_16_tokens() -> None:
    cache = PrefixCache()
    cache.hold(list(range(40)))
    assert cache.reused(list(range(40))) == 32


def test_a_conversation_that_goes_on_reuses_the_whole_blocks_of_the_turns_before() -> None:
    first = list(range(10))  # two blocks of 4 and a rest of 2 that is not held
    assert holding(first).reused([*first, 97, 98, 99]) == 8


def test_a_last_block_that_is_held_is_computed_again_because_its_last_token_must_be() -> None:
    prompt = list(range(8))
    assert holding(prompt).reused(prompt) == 4
    assert holding(prompt).reused([*prompt, 99]) == 8


def test_a_change_in_the_middle_loses_everything_after_it() -> None:
    held = list(range(16))
    changed = [*held[:5], 99, *held[6:], 100]
    assert holding(held).reused(changed) == 4


def test_a_block_counts_only_behind_the_same_blocks() -> None:
    assert holding([1, 1, 1, 1, 2, 2, 2, 2]).reused([2, 2, 2, 2, 1, 1, 1, 1, 0]) == 0


def test_the_longest_of_several_held_prefixes_counts() -> None:
    cache = holding([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3, 3])
    assert cache.reused([0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3, 3, 9]) == 12


@pytest.mark.parametrize("block", [0, -1])
def test_a_block_that_holds_nothing_is_refused(block: int) -> None:
    with pytest.raises(InvariantError, match="holds nothing"):
        PrefixCache(block)


@given(held=st.lists(TOKENS, max_size=4), prompt=TOKENS, block=st.integers(1, 5))
def test_reuse_is_the_longest_shared_prefix_in_whole_blocks_short_of_the_last_token(
    held: list[list[int]], prompt: list[int], block: int
) -> None:
    # Not max(shared) first: a held sequence counts only with its own whole blocks.
    found = [min(shared(prompt[:-1], tokens), len(tokens)) // block * block for tokens in held]
    assert holding(*held, block=block).reused(prompt) == max(found, default=0)


@given(held=TOKENS, more=TOKENS, block=st.integers(1, 5))
def test_holding_more_never_loses_anything(held: list[int], more: list[int], block: int) -> None:
    before = holding(held, block=block).reused([*held, 9])
    assert holding(held, more, block=block).reused([*held, 9]) >= before == len(held) // block * block
