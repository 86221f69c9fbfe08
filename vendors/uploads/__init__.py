"""Receives uploads: checks the headers, then streams the file to the object store in one pass."""

from .hashing import ALGORITHMS, Checksum
from .receiving import (
    Received,
    announced_size,
    check_upload_headers,
    receive,
    receive_part,
    receive_small,
    removed_on_failure,
    safe_filename,
    upload_slot,
)

__all__ = [
    "ALGORITHMS",
    "Checksum",
    "Received",
    "announced_size",
    "check_upload_headers",
    "receive",
    "receive_part",
    "receive_small",
    "removed_on_failure",
    "safe_filename",
    "upload_slot",
]
