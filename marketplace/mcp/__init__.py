"""The tool protocol for AI clients (MCP) at `/mcp`: each tool is a face of a service that the API shows too.

A request passes `authentication` (who calls, how often), `messages` (the message), `revisions` (which protocol it speaks) and `methods`;
`responses` writes what goes back. Nothing is kept between requests, so that any node can answer.
"""
