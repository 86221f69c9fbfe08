"""Receives uploads: checks the headers, then streams the file to the object store in one pass."""

from .hashing import ALGORITHMS, Checksum
from .receiving import (
    Received,
    check_upload_headers,
    one_of_the_sender,
    receive,
    receive_part,
    receive_small,
    removed_on_failure,
    safe_filename,
)

__all__ = [
    "ALGORITHMS",
    "Checksum",
    "Received",
    "check_upload_headers",
    "one_of_the_sender",
    "receive",
    "receive_part",
    "receive_small",
    "removed_on_failure",
    "safe_filename",
]
