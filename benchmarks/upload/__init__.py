"""The cost of an upload, compared with hashing the same file."""
