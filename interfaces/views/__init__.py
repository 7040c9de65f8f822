"""interfaces/views."""
