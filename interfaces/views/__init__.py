"""Answers and plans for the terminal, and audits as text, HTML and SARIF."""
