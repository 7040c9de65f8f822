"""A memory that many threads fill never grows beyond its size and never loses what was just put in."""

from concurrent.futures import ThreadPoolExecutor

from discorag.store.recent import Recent


def test_threads_that_fill_it_together_keep_it_within_its_size() -> None:
    memory = Recent[int](50)

    def put(i: int) -> int:
        return memory.put(str(i), i)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(put, range(5000))) == list(range(5000))
    assert len(memory) == 50
    memory.put("last", 1)
    assert [*memory][-1] == "last"
