"""Problem classes of account exports."""

from marketplace.core.errors import Problem


class ExportUnderWay(Problem):
    """409: an export was requested within the last hour."""

    status = 409
    title = "An export was requested recently"
    detail = "An export of your data was requested within the last hour. You get an email when it is ready; then you can request another."
