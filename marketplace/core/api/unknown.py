"""Names of fields and parameters that an operation does not have: each is refused with the nearest one that it has."""

from collections.abc import Collection, Iterable
from itertools import islice

from rapidfuzz import fuzz, process

from .. import bounds

# From here on, in percent, two names are alike enough to be taken for each other.
_ALIKE = 60


def unknown_names(names: Iterable[str], known: Collection[str], *, kind: str) -> dict[str, list[str]]:
    """Return a message for each of the first unknown names, with the nearest known one.

    Args:
        names: Those that are unknown, however many.
        known: Those that the operation has.
        kind: What they are called: field, parameter or argument.
    """
    cut = (name[: bounds.NAME_CHARS] for name in islice(names, bounds.UNKNOWN_NAMES))
    return {name: [_message(name, known, kind)] for name in cut}


def _message(name: str, known: Collection[str], kind: str) -> str:
    nearest = process.extractOne(name, sorted(known), scorer=fuzz.ratio, processor=str.casefold, score_cutoff=_ALIKE)
    return f"There is no such {kind}. Did you mean {nearest[0]}?" if nearest else f"There is no such {kind}."
