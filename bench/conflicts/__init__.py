"""What the audit finds."""
