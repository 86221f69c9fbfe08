"""MCP tool calls compared with the same operations of the API."""
