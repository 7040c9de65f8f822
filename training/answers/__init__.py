"""Fits the scorer and the refusal of `discorag.answer` on the training parts of `eval.splits`."""
