"""Answers with a language model: statements with quotations, their relations and plan, and the prose over them."""
