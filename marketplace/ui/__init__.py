"""Formatting, charts, mail, PDF and template tags; independent of the apps."""
