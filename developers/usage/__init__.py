"""Counts the calls with each credential without a write for each request; those of pages that act for their user are left out.

The middleware hands each call to a buffer in the process; a thread adds the buffer to the `ApiUsage` rows every
`USAGE_FLUSH_SECONDS`, sooner when it fills, and once more when the process ends. Processes add up: a row is
incremented by the database, never overwritten. A process that is killed loses the calls since its last flush.
"""
