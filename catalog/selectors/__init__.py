"""Reads of the catalog."""
