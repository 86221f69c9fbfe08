"""Refusals of requests about one's own account."""

from marketplace.core.errors import Problem


class ExportUnderWay(Problem):
    """409: a copy was asked for a moment ago."""

    status = 409
    title = "A copy was asked for a moment ago"
    detail = "A copy of your data was asked for within the last hour. You get a mail when it is there; then you can ask for another."
