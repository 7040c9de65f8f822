"""The interfaces: facade, command line, HTTP API, MCP server, LangChain parts and views."""
