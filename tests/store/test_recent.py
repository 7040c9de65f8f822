"""A memory that many threads fill never grows beyond its size and never loses what was just put in."""

from concurrent.futures import ThreadPoolExecutor

from discorag.store.recent import Recent


def test_the_oldest_goes_first() -> None:
    memory = Recent[int](2)
    for i, key in enumerate("abc"):
        assert memory.put(key, i) == i
    assert dict(memory) == {"b": 1, "c": 2}


def test_threads_that_fill_it_together_keep_it_within_its_size() -> None:
    memory = Recent[int](50)

    def put(i: int) -> int:
        memory.get(str(i - 1))
        return memory.put(str(i), i)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(put, range(5000))) == list(range(5000))
    assert len(memory) == 50
