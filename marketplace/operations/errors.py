"""Refusals of what one asks for one's own account."""

from marketplace.core.errors import Problem


class ExportUnderWay(Problem):
    """409: a copy is being written already."""

    status = 409
    title = "A copy is being written"
    detail = "A copy of your data is being written already. You get a mail when it is there."
