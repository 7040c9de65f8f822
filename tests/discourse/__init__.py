"""tests/discourse."""
