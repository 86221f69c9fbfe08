"""Shapes of the wallet's bodies and answers."""
