"""The relation inventory of RST trees: Disco-RAG fig. 8's 24 relations, and JOINT."""

from __future__ import annotations

from enum import StrEnum


class Relation(StrEnum):
    """How two adjacent spans relate. Values are the paper's names (Disco-RAG, fig. 8).

    JOINT (coordinate units) is not in the paper's list; `PAPER_RELATIONS` leaves it out.
    """

    ELABORATION = "ELABORATION"
    EXPLANATION = "EXPLANATION"
    EVIDENCE = "EVIDENCE"
    EXAMPLE = "EXAMPLE"
    CONTRAST = "CONTRAST"
    COMPARISON = "COMPARISON"
    CONCESSION = "CONCESSION"
    ANTITHESIS = "ANTITHESIS"
    CAUSE = "CAUSE"
    RESULT = "RESULT"
    CONSEQUENCE = "CONSEQUENCE"
    PURPOSE = "PURPOSE"
    CONDITION = "CONDITION"
    TEMPORAL = "TEMPORAL"
    SEQUENCE = "SEQUENCE"
    BACKGROUND = "BACKGROUND"
    CIRCUMSTANCE = "CIRCUMSTANCE"
    SUMMARY = "SUMMARY"
    RESTATEMENT = "RESTATEMENT"
    EVALUATION = "EVALUATION"
    INTERPRETATION = "INTERPRETATION"
    ATTRIBUTION = "ATTRIBUTION"
    DEFINITION = "DEFINITION"
    CLASSIFICATION = "CLASSIFICATION"
    JOINT = "JOINT"

    @property
    def code(self) -> str:
        """Four letters that name the relation inside a prompt; unique in the inventory."""
        return self.value[:4].lower()


PAPER_RELATIONS = tuple(r for r in Relation if r is not Relation.JOINT)
BY_CODE = {r.code: r for r in Relation}


class Nuclearity(StrEnum):
    """Which side carries the main information: nucleus-satellite, satellite-nucleus, or both."""

    NS = "NS"
    SN = "SN"
    NN = "NN"
