"""Refusals of requests about one's own account."""

from marketplace.core.errors import Problem


class ExportUnderWay(Problem):
    """409: a copy was asked for a moment ago."""

    status = 409
    title = "An export was requested recently"
    detail = "An export of your data was requested within the last hour. You get a mail when it is ready; then you can request another."
