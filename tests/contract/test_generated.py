"""No generated request gets a 5xx, an undocumented status, or an answer of another shape than documented."""

import os

import pytest

from .generated import CALLERS, Exercise
from .scenes import SCENES
from .shapes import Auth, Operation
from .table import OPERATIONS

pytestmark = [pytest.mark.django_db, pytest.mark.full]

# The long command asks for more.
AT_RANDOM = "GENERATED_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("GENERATED_EXAMPLES", "4"))
# Of each kind of boundary.
BOUNDARIES = 1_000_000 if AT_RANDOM else 8
# With which credential the boundaries are tried.
LET_IN = {Auth.NONE: "anonymous", Auth.KEY: "API key", Auth.KEY_OR_BEARER: "API key", Auth.BEARER: "vendor's token"}


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_generated_requests_get_documented_responses(operation: Operation, subtests: pytest.Subtests) -> None:
    scene = SCENES[operation.scene]()
    for kind, headers_of in CALLERS.items():
        with subtests.test(kind):
            # Whoever is not let in gets the same answer to every request.
            let_in = kind == LET_IN[operation.auth] or (kind == "OAuth token" and operation.auth is Auth.KEY_OR_BEARER)
            examples = EXAMPLES if let_in or AT_RANDOM else 1
            boundaries = BOUNDARIES if kind == LET_IN[operation.auth] else 0
            sent = Exercise(operation, scene, headers_of(scene.user)).run(boundaries=boundaries, examples=examples, at_random=AT_RANDOM)
            # Without parameters there are few different requests to make.
            assert sent >= min(examples, 4)
