"""The exceptions with which an inspection refuses a file."""

from collections.abc import Iterator
from contextlib import contextmanager


class Unsupported(Exception):
    """The file is of no supported type; the argument is a sentence for the vendor, or for the reviewer who opens a file."""


class Rejected(Exception):
    """The file is of a supported type, but damaged or hostile; the argument is a sentence for the vendor, or for the reviewer who opens a file."""


class TooMuch(Rejected):
    """It has more than is checked."""


@contextmanager
def rejecting(reason: str) -> Iterator[None]:
    """Raise `Rejected` with this sentence for whatever a library raises on damaged bytes. A lack of memory is passed on."""
    try:
        yield
    except (Rejected, Unsupported, MemoryError):
        raise
    except Exception as error:
        raise Rejected(reason) from error
