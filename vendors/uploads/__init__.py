"""Receives uploads: checks the headers, then streams the file to the object store in one pass."""
