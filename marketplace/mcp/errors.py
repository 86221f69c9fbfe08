"""Errors of MCP."""

from marketplace.core.errors import Problem


class NotAcceptable(Problem):
    """406: the client must accept JSON."""

    status = 406
    title = "The Accept header excludes the response"
    detail = "Send Accept: application/json, text/event-stream."
