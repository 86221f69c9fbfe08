"""The types with which the contract is written down: operations, their fields and parameters, and shapes of responses.

Shapes are JSON Schemas, closed: a key that the table does not name is an error, as is one that is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from marketplace.core.scopes import Scope

Shape = dict[str, Any]

STRING: Shape = {"type": "string"}
NUMBER: Shape = {"type": "number"}
INTEGER: Shape = {"type": "integer"}
BOOLEAN: Shape = {"type": "boolean"}
OBJECT: Shape = {"type": "object"}
TIME: Shape = {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$"}
SHA256: Shape = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
# An answer that is no JSON document but the file itself.
BYTES: Shape = {}


def one_of(*words: str) -> Shape:
    """Return the shape of a string from a closed set."""
    return {"type": "string", "enum": list(words)}


def nullable(shape: Shape) -> Shape:
    """Return the shape, or null."""
    return shape | {"type": [shape["type"], "null"]} | ({"enum": [*shape["enum"], None]} if "enum" in shape else {})


def array(items: Shape) -> Shape:
    """Return the shape of a list."""
    return {"type": "array", "items": items}


def record(given: Mapping[str, Shape], *, added: Mapping[str, Shape] | None = None, sometimes: tuple[str, ...] = ()) -> Shape:
    """Return the shape of an object with exactly these keys.

    Args:
        given: What the specification names.
        added: What we add to it.
        sometimes: Keys that are there in some cases only.
    """
    properties = {**given, **(added or {})}
    required = [name for name in properties if name not in sometimes]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


class Auth(Enum):
    """The auth column of the specification."""

    NONE = "none"
    KEY = "X-Api-Key"
    KEY_OR_BEARER = "X-Api-Key or Bearer"
    BEARER = "Bearer"

    @property
    def key(self) -> bool:
        """Tell whether an API key lets the caller in."""
        return self in {Auth.KEY, Auth.KEY_OR_BEARER}

    @property
    def bearer(self) -> bool:
        """Tell whether a bearer token lets the caller in."""
        return self in {Auth.BEARER, Auth.KEY_OR_BEARER}


UNSET = object()


@dataclass(frozen=True)
class Field:
    """A field of a JSON body.

    Args:
        name: As the specification spells it.
        type: JSON type.
        sample: A good value; None where only the scene knows one.
        required: Whether it must be there.
        nullable: Whether null is a value.
        default: What is shown afterwards when it was left out.
        bounds: Its limits, in the words of OpenAPI; `items` for those of a list's items.
        bad: Further values that must be refused, in a pair with the error's code where that matters; a list is refused at one of its items.
        added: Whether it is our addition to the specification.
    """

    name: str
    type: str
    sample: Any = None
    required: bool = False
    nullable: bool = False
    default: Any = UNSET
    bounds: Mapping[str, Any] = field(default_factory=dict)
    bad: tuple[Any, ...] = ()
    added: bool = False


@dataclass(frozen=True)
class Query:
    """A query parameter, described as a field is; a number above its `maximum` is cut to it instead of refused."""

    name: str
    type: str | list[str]
    required: bool = False
    default: Any = UNSET
    bounds: Mapping[str, Any] = field(default_factory=dict)
    bad: tuple[str, ...] = ()
    maximum: int | None = None


@dataclass(frozen=True)
class Operation:
    """One endpoint.

    Args:
        path: Under /api/v1; a name in braces is given by the scene.
        auth: The auth column.
        scene: What must be there for a good call: a function of `scenes`.
        scope: What the credential must carry.
        form: Name of the sample file of an upload; None where it is none.
        refusals: Codes of its own, beside those that every operation has.
        added: Whether it is our addition to the specification.
    """

    method: str
    path: str
    auth: Auth
    scene: str
    response: Shape
    scope: str | None = None
    body: tuple[Field, ...] | None = None
    form: str | None = None
    query: tuple[Query, ...] = ()
    refusals: frozenset[str] = frozenset()
    added: bool = False

    @property
    def name(self) -> str:
        """How tests name it."""
        return f"{self.method} {self.path}"

    @property
    def scopes(self) -> frozenset[Scope]:
        """Return what its credential must carry; one that needs none gets any one, as a key has at least one."""
        return frozenset({Scope(self.scope or Scope.CATALOG_READ)})

    @property
    def takes_json(self) -> bool:
        """Tell whether it parses a JSON body, be it an empty one."""
        return self.method != "GET" and self.form is None
