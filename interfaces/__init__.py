"""The ways in: the facade, command line, HTTP API, MCP server, LangChain parts and views."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
"""The example corpora: next to ``interfaces``, in the repository and in the wheel."""
