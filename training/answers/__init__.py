"""Fits `discorag.answer.calibration` on the training parts of `eval.splits`."""
