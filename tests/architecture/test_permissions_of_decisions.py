"""Every decision of the admin calls a service that is told who decides; a system check knows whether its permission exists."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from marketplace.review.decisions import CLAIMING
from marketplace.review.queues import QueueAdmin
from marketplace.review.service import ServiceAdmin
from tests.admin.pages import service_admins

# Where the rules are kept.
SERVICES = (".services", "marketplace.review.appeals", "marketplace.jobs.queue")
DECISIONS = [(model_admin, name) for model_admin in service_admins() for name in model_admin.decision_names]


def _called(function: Callable[..., Any]) -> Iterator[Any]:
    """Yield what a function names, also by way of a module."""
    seen = inspect.getclosurevars(function)
    for each in (*seen.globals.values(), *seen.nonlocals.values()):
        if isinstance(each, ModuleType):
            yield from (value for name in seen.unbound if callable(value := getattr(each, name, None)))
        yield each.func if isinstance(each, partial) else each


def _services(model_admin: ServiceAdmin, name: str) -> list[FunctionType]:
    perform = inspect.unwrap(getattr(type(model_admin), name))
    return [each for each in _called(perform) if isinstance(each, FunctionType) and any(part in each.__module__ for part in SERVICES)]


def test_every_decision_needs_more_than_to_look_and_passes_its_actor_to_the_service() -> None:
    assert len(DECISIONS) > 50
    for model_admin, name in DECISIONS:
        # To see is not to decide.
        assert ".view_" not in model_admin.decisions()[name].permission, (model_admin, name)
        if name in CLAIMING:
            # They are those of all queues.
            assert isinstance(model_admin, QueueAdmin)
            continue
        called = _services(model_admin, name)
        assert any("actor" in inspect.signature(service).parameters for service in called), (model_admin, name, called)
