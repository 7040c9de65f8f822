"""The judge of support and contradiction: pairs, training and export, not in the wheel."""
