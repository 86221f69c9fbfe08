"""The MCP server at `/mcp`: each tool calls a service that the API has too.

A request passes `authentication` (caller and rate limits), `messages` (the message), `revisions` (the protocol's revision) and `methods`;
`responses` builds the response. Nothing is stored between requests, so that any node can answer.
"""
