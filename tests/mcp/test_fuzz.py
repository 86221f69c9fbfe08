"""Ten thousand malformed messages, a fifth of them on the second engine: never a crash, always an answer in form."""

import logging
from typing import Any

import pytest
from django.db import connection

from tests.shop import archive, bought, funded, on_sale

from .fuzzing import fuzz
from .speaking import tool_token

pytestmark = pytest.mark.full

MESSAGES = {"sqlite": 10_000, "postgresql": 2_000}
SEED = 20_260_728


def prepared() -> str:
    """Return the token of someone who owns something and has money for more."""
    buyer = funded(inr=100_000_000)
    bought(on_sale(archive(), slug="harbor-grotesk"), buyer)
    return tool_token(buyer)[1]


@pytest.mark.django_db
def test_malformed_messages_never_crash_and_are_answered_in_form(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 10**9)
    caplog.set_level(logging.ERROR, "django.request")
    count = MESSAGES[connection.vendor]
    seen = fuzz(prepared(), seed=SEED, count=count)
    assert sum(seen.values()) == count
    refusals = {"400 -32700", "400 -32600", "400 -32602", "400 -32020", "404 -32601", "200 -32602", "200 -32601"}
    assert {"202", "refused by a tool", *refusals} <= set(seen)
