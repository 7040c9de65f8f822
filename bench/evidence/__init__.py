"""How much evidence is read for a question, and how much of the gold evidence is in it."""
