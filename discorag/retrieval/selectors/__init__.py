"""From scored nodes to evidence within a budget, one way a module."""
