"""The tests."""

import argparse
import sys
from pathlib import Path

# Of the tree.
ROOT = Path(__file__).resolve().parent.parent


def command_line(name: str, about: str | None) -> argparse.ArgumentParser:
    """Return a parser for the arguments of `python -m name`, whose help is the text of the module."""
    raw = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(prog=f"python -m {name}", description=about, allow_abbrev=False, formatter_class=raw)


def say(line: object) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
