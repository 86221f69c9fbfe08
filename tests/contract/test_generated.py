"""No generated request gets a 5xx, an undocumented status, or an answer of another shape than documented."""

import os
from typing import Any

import pytest

from .generated import CALLERS, Exercise
from .scenes import SCENES
from .shapes import Auth, Operation
from .table import OPERATIONS

pytestmark = [pytest.mark.django_db, pytest.mark.full]

# The long command asks for more.
AT_RANDOM = "GENERATED_EXAMPLES" in os.environ
EXAMPLES = int(os.environ.get("GENERATED_EXAMPLES", "4"))
# With which credentials the boundaries are tried: one for each way in.
LET_IN = {
    Auth.NONE: {"anonymous"},
    Auth.KEY: {"API key"},
    Auth.KEY_OR_BEARER: {"API key", "OAuth token"},
    Auth.BEARER: {"vendor's token"},
}


@pytest.mark.parametrize("kind", CALLERS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_generated_requests_get_documented_responses(operation: Operation, kind: str, settings: Any) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 10**9)
    scene = SCENES[operation.scene]()
    # Whoever is not let in gets the same answer to every request.
    boundaries = kind in LET_IN[operation.auth]
    examples = EXAMPLES if boundaries or AT_RANDOM else 1
    sent = Exercise(operation, scene, CALLERS[kind](scene.user)).run(boundaries=boundaries, examples=examples, at_random=AT_RANDOM)
    # Without parameters there are few different requests to make.
    assert sent >= min(examples, 4)
