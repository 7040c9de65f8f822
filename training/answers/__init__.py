"""Fits `discorag.generation.calibration` on the training parts of `eval.splits`."""
