"""tests/interfaces."""
