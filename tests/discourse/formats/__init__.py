"""tests/discourse/formats."""
