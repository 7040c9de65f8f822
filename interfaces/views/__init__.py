"""Answers, graphs and plans for the terminal, and answers as rows of a table."""
