"""Problem classes of uploads."""

from marketplace.core.errors import Problem


class UploadIncomplete(Problem):
    """400: the body ended before the file did, or holds no file."""

    status = 400
    title = "The upload is not complete"
    detail = "Send multipart/form-data with one part named file that has a file name, to its closing boundary."


class FileRejected(Problem):
    """400: the file is of a supported type but damaged or malicious; `reason` is the kind of failure."""

    status = 400
    title = "The file is not acceptable"
    detail = "It is damaged, or made in a way that is not safe to open."
