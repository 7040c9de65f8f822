"""What runs say: means, comparisons, pages, committed numbers."""
