"""Whether evidence supports a sentence: `objection` chains the checks, each a module of its own."""

from discorag.rhetoric.support.objection import anchors, objection

__all__ = ["anchors", "objection"]
