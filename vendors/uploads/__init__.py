"""Receives uploads: checks the headers, then streams the file to the object store in one pass."""

from .receiving import Received, check_upload_headers, receive, receive_small, safe_filename

__all__ = ["Received", "check_upload_headers", "receive", "receive_small", "safe_filename"]
