"""discorag/discourse."""
