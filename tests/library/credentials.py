"""Altered copies of verifiable credentials."""

import copy
from collections.abc import Iterator
from typing import Any


def altered_copies(credential: dict[str, Any]) -> dict[str, Any]:
    """Return copies of a credential, each with one value altered, by the place of that value."""
    copies = {}
    for path in _paths(credential):
        altered = copy.deepcopy(credential)
        *above, last = path
        holder: Any = altered
        for step in above:
            holder = holder[step]
        holder[last] = holder[last] + 1 if isinstance(holder[last], int) else "altered"
        copies[".".join(map(str, path))] = altered
    return copies


def _paths(value: Any, *above: str | int) -> Iterator[tuple[str | int, ...]]:
    children: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        yield (*above, name)
        yield from _paths(child, *above, name)
