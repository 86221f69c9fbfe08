"""Attacks on the running service, each repeated on demand."""
