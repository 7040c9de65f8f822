"""The product next to other systems."""
