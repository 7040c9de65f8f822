"""Which statements of different sources disagree."""
