"""Calls of services that start together, with the codes of those that are refused."""

from collections.abc import Callable
from typing import Any

from marketplace.core.errors import Problem
from tests.races import at_once

THREADS = 16


def outcomes_at_once(*deeds: Callable[[], Any]) -> list[Any]:
    """Return what deeds that start together returned, or the code that they were refused with."""
    return [outcome.code if isinstance(outcome, Problem) else outcome for outcome in at_once(*deeds)]
