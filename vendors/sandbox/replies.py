"""Validates the replies of the child process, which a hostile file may control."""

import json
import math
from typing import Any, NamedTuple

VERDICT_BYTES = 2 * 2**20
BLOB_BYTES = 64 * 2**20
MAX_DEPTH = 8
TEXT_CHARS = 2**16
# Integers that both databases can store.
MAX_NUMBER = 2**63 - 1


class ChildFailed(Exception):
    """The child crashed, timed out, or sent a reply of the wrong shape."""


class Verdict(NamedTuple):
    """A child's verdict: outcome, reason, the task's result, and the size of each blob that follows."""

    outcome: str
    reason: str
    result: dict[str, Any]
    blob_sizes: list[int]


def parse(encoded: bytes) -> Verdict:
    """Parse the verdict. Both databases can store every value of the result, and JSON encoders accept it.

    Raises:
        ChildFailed: it has another shape.
    """
    try:
        decoded = json.loads(encoded, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ChildFailed("its verdict is not JSON") from error
    verdict = to_storable(decoded)
    if not isinstance(verdict, dict):
        raise ChildFailed("its verdict is not an object")
    result, sizes = verdict.get("result", {}), verdict.get("blobs", [])
    if not isinstance(result, dict) or not isinstance(sizes, list):
        raise ChildFailed("its verdict has another shape")
    if not all(type(size) is int and size >= 0 for size in sizes) or sum(sizes) > BLOB_BYTES:
        raise ChildFailed("its verdict announces impossible bytes")
    return Verdict(str(verdict.get("outcome", "")), str(verdict.get("reason", "")), result, sizes)


def to_storable(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return JSON whose texts every database can store: names in files may contain NUL and lone surrogates. What is too large is an error."""
    if not depth:
        raise ChildFailed("its verdict is too deep")
    match value:
        case str():
            return _text(value)
        case dict():
            return {_text(key): to_storable(inner, depth - 1) for key, inner in value.items()}
        case list():
            return [to_storable(inner, depth - 1) for inner in value]
        case bool() | None:
            return value
        case int() | float():
            if not math.isfinite(value) or abs(value) > MAX_NUMBER:
                raise ChildFailed("its verdict holds an impossible number")
            return value
        case _:
            raise ChildFailed("its verdict holds something else")


def _text(value: str) -> str:
    if len(value) > TEXT_CHARS:
        raise ChildFailed("its verdict holds a text that is too long")
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _refuse(constant: str) -> None:
    raise ValueError(constant)
