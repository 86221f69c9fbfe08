"""Records the example answers of the API reference: `pytest tests/contract/record_examples.py`, after an operation's answer has changed.

Each is a real answer to the good call of the contract's table, with long texts cut and the listing named as in the example requests.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from marketplace.web.docs.reference import EXAMPLE_BASE_URL, EXAMPLE_RESPONSES

from .calls import call, document_of
from .scenes import Scene
from .shapes import BYTES, Operation
from .table import OPERATIONS
from .test_responses import checked

pytestmark = pytest.mark.django_db

# What the listing, its store and its buyer are called in the API reference, by the pattern that finds them in the scenes.
_RENAMED = {
    r"Aurora Sans|(?<=# )Aurora": "Halden Grotesk",
    r"aurora-sans": "halden-grotesk",
    r"aurora": "halden",
    r"Store \d+": "Northlight Studio",
    r"store-\d+": "northlight-studio",
    r"user\d+@": "buyer@",
    r"http://testserver": EXAMPLE_BASE_URL,
    r"(?<=did:web:)testserver": EXAMPLE_BASE_URL.removeprefix("https://"),
    r"(?<=/downloads/)([\w-]{16})[\w.-]+": r"\1…",
}
_LONGEST, _KEPT = 160, 60


@pytest.fixture(scope="module")
def recorded() -> Iterator[dict[str, Any]]:
    """The answers so far by operation; written at the end."""
    found: dict[str, Any] = {}
    yield found
    text = json.dumps(dict(sorted(found.items())), indent=2, ensure_ascii=False)
    for pattern, name in _RENAMED.items():
        text = re.sub(pattern, name, text)
    EXAMPLE_RESPONSES.write_text(text + "\n", "utf-8")


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.response is not BYTES], ids=lambda each: each.name)
def test_response_is_recorded(operation: Operation, scene: Scene, caller: APIClient, recorded: dict[str, Any]) -> None:
    recorded[document_of(operation)["operationId"]] = _shortened(checked(call(caller, operation, scene), operation))


def _shortened(value: Any) -> Any:
    match value:
        case dict():
            return {name: _shortened(each) for name, each in value.items()}
        case list():
            return [_shortened(each) for each in value[:2]]
        case str() if len(value) > _LONGEST:
            return f"{value[:_KEPT]}…"
    return value
