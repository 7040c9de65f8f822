"""Many questions, many documents."""
