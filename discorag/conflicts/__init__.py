"""Which statements of different sources are at odds."""
