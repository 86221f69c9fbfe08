"""Shapes of the vendor side's bodies and answers."""
