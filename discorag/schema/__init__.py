"""What the rooms hand to each other: data with its invariants, and nothing else. Imports nothing of ours."""
