"""When two sources contradict each other: pairs to learn from, and the fit."""
