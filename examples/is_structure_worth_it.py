"""Is the structure of a RAG worth it? A pipeline of LangChain objects alone, asked again with controls of its graph.

The pipeline retrieves documents, has a graph over them, and shows both to a model. Put your own in its place; the
controls need only the graph's nodes and edges. ``python examples/is_structure_worth_it.py`` wants a model
(``DISCO_RAG_MODEL=ollama:qwen3:8b``, say).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from rich.console import Console

from discorag.config import read_settings
from discorag.models.providers import connect
from eval.controls import Edge, permute_edges, shuffle_labels
from eval.reporting.stats import Paired, compare

Graph: TypeAlias = list[Edge[str, str]]
Change: TypeAlias = Callable[[Sequence[str], Graph, Random], Graph]
PROMPT = ChatPromptTemplate.from_template(
    "Documents:\n{documents}\n\nHow they relate:\n{graph}\n\nQuestion: {question}\nAnswer with the value alone."
)


def _exchange_labels(_: Sequence[str], graph: Graph, random: Random) -> Graph:
    return shuffle_labels(graph, random)


def _remove_edges(_: Sequence[str], __: Graph, ___: Random) -> Graph:
    return []


CONTROLS: Mapping[str, Change] = {
    "the same edges between other documents": permute_edges,
    "the same edges with other labels": _exchange_labels,
    "no edges": _remove_edges,
}


@dataclass(frozen=True)
class Case:
    """A question with what the pipeline found for it.

    Args:
        question: What is asked.
        documents: What was retrieved; each has an ``id``.
        graph: ``(id, label, id)`` between documents, by whatever makes it.
        right: The right answer.
    """

    question: str
    documents: Sequence[Document]
    graph: Graph
    right: str


def score(answer: str, case: Case) -> float:
    """100 if the answer has the right value, else 0: put your own metric here."""
    return 100.0 * (case.right.lower() in answer.lower())


def worth(model: BaseChatModel, cases: Sequence[Case], seed: int = 1) -> dict[str, Paired | None]:
    """What the graph gains over each control: a paired difference in score points, with its 95 % interval."""
    chain = PROMPT | model | StrOutputParser()

    def scores(change: Change | None) -> dict[str, float]:
        found = dict[str, float]()
        for i, case in enumerate(cases):
            ids = [document.id or "" for document in case.documents]
            graph = change(ids, case.graph, Random(f"{seed} {i}")) if change else case.graph
            shown = {
                "documents": "\n".join(f"[{document.id}] {document.page_content}" for document in case.documents),
                "graph": "\n".join(" ".join(edge) for edge in graph),
                "question": case.question,
            }
            found[f"{i}"] = score(chain.invoke(shown), case)
        return found

    with_graph = scores(None)
    return {name: compare(with_graph, scores(change), seed=seed) for name, change in CONTROLS.items()}


def example_cases() -> list[Case]:
    """Towns of which a newer register replaces an older one; only the graph says which is newer."""
    cases = list[Case]()
    for i, town in enumerate(("Lanse", "Vellby", "Sedge", "Tamsin", "Holm", "Orle")):
        texts = {"a": f"{town} has {100 + i} houses.", "b": f"{town} has {200 + i} houses.", "c": f"{town} has a mill."}
        new, old = ("a", "b") if i % 2 else ("b", "a")
        cases.append(
            Case(
                question=f"How many houses has {town}?",
                documents=[Document(page_content=text, id=name) for name, text in texts.items()],
                graph=[(new, "REPLACES", old), ("c", "ELABORATES", new)],
                right=f"{100 + i if new == 'a' else 200 + i}",
            )
        )
    return cases


if __name__ == "__main__":
    found = worth(connect(read_settings().llm_for("reader")).chat, example_cases())
    for control, gain in found.items():
        Console().print(f"the graph minus {control}: {gain.shown if gain else 'no questions'}", markup=False)
