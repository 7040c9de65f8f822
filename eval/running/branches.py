"""One question answered several times: the answer graph run once, then again from one of its stages on."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from time import perf_counter
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

from graphs.answer import build
from interfaces.results import AskResult
from nodes.context import AnswerContext
from nodes.state import AnswerInput, AnswerState, Json


class Branches:
    """Runs of one question that share what they have in common (ablations, Disco-RAG table 4).

    ``again`` takes the first run up before one of its stages under other options; everything before that stage (hits,
    trees, graph, as far as they exist) is the first run's own, not a second sample. Stages that were reused keep their
    records in the ledger; ``seconds`` counts only what was run again.
    """

    def __init__(self) -> None:
        self._saver = InMemorySaver()
        self._graph = build(checkpointer=self._saver)

    async def run(self, thread: str, asked: AnswerInput, context: AnswerContext) -> AskResult:
        """Run the whole graph. ``thread`` is any name that is not in use. Raises as `DiscoRAG.aask`."""
        start = perf_counter()
        state = await self._graph.ainvoke(asked, _config(thread), context=context)
        return AskResult.of(await self._whole(thread, state), perf_counter() - start)

    async def again(self, thread: str, *, before: str, context: AnswerContext, update: Json | None = None) -> AskResult:
        """Run from stage ``before`` on, under the options of ``context``. Raises ``KeyError`` for an unknown stage.

        ``update`` changes the state first. A first run that ended before the stage, because its question was refused,
        is the result.
        """
        start = perf_counter()
        states = [s async for s in self._graph.aget_state_history(_config(thread))]
        if not states or before not in self._graph.nodes:
            raise KeyError(before)
        history = [s for s in states if s.next == (before,)]
        if not history:
            return AskResult.of(await self._whole(thread, {}), perf_counter() - start)
        first = history[-1].config  # the oldest is of the first run, later ones are of branches
        if update:
            first = await self._graph.aupdate_state(first, update)  # as if the node before the stage had returned it
        state = await self._graph.ainvoke(None, first, context=context)
        return AskResult.of(await self._whole(thread, state), perf_counter() - start)

    async def state(self, thread: str) -> AnswerState:
        """What the graph knows at the end of the thread's last run."""
        return cast(AnswerState, (await self._graph.aget_state(_config(thread))).values)

    async def first(self, thread: str) -> AnswerState:
        """What the graph knew at the end of the thread's first run, before any branch."""
        ends = [s.values async for s in self._graph.aget_state_history(_config(thread)) if not s.next]
        return cast(AnswerState, ends[-1])

    async def forget(self, thread: str) -> None:
        """Drop what is kept of a question."""
        await self._saver.adelete_thread(thread)

    async def _whole(self, thread: str, state: dict[str, Any]) -> dict[str, Any]:
        """The full state: the graph's output shows the answer and the ledger only."""
        return {**await self.state(thread), **state}


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}
