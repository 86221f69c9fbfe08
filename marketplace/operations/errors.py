"""Problem classes of account exports."""

from marketplace.core.errors import Problem


class ExportRequestedRecently(Problem):
    """409: an export was requested within the last hour."""

    status = 409
    title = "An export was requested recently"
    detail = "An export was requested within the last hour. You can request another one an hour after that request."
