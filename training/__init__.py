"""Training and scoring of what is learned: the corpus readers, the runs, the measures. Not in the wheel."""
