"""The tests."""

from pathlib import Path

# Of the tree.
ROOT = Path(__file__).resolve().parent.parent
