"""What supports a sentence: pairs to learn from, the fit, and what each part of it is worth."""
