"""Problems of the catalog."""

from marketplace.core.errors import Problem


class StoreClosed(Problem):
    """409: the vendor is not approved, so the listing cannot be published."""

    status = 409
    title = "The store is closed"
    detail = "The vendor is not approved at the moment. Approve or reinstate the vendor first."


class DeliverableMissing(Problem):
    """409: the listing has no deliverable."""

    status = 409
    title = "The listing has no file"
    detail = "Upload the deliverable first."


class DeliverableBlocked(Problem):
    """409: a reviewer marked the file as malicious."""

    status = 409
    title = "The file is blocked"
    detail = "A reviewer marked it as malicious. Upload another file."


class NothingToReview(Problem):
    """409: a published listing has no new file to review."""

    status = 409
    title = "There is nothing to review"
    detail = "The listing is published and has no new file. Edits are live at once; upload a file to have it reviewed."
