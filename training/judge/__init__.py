"""A judge that reads evidence and sentence together: an experiment (``docs/verification.md``), not in the wheel."""
