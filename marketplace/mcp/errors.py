"""Refusals of the tool protocol."""

from marketplace.core.errors import Problem


class NotAcceptable(Problem):
    """406: the client must take JSON."""

    status = 406
    title = "The Accept header excludes the response"
    detail = "Send Accept: application/json, text/event-stream."
