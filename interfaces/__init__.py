"""The ways in: the facade, command line, HTTP API, MCP server, LangChain parts and views."""
