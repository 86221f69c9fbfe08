"""Shapes of the library's answers and queries."""
