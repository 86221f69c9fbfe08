"""Every decision of the admin has a permission of its own model or app, and calls a service that is told who decides."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from django.apps import apps

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


def test_every_decision_names_a_permission_that_exists() -> None:
    for model_admin, name in DECISIONS:
        app_label, codename = model_admin.decisions()[name].permission.split(".")
        known = {
            codename
            for model in apps.get_app_config(app_label).get_models()
            for codename in (
                *(f"{action}_{model._meta.model_name}" for action in model._meta.default_permissions),
                *dict(model._meta.permissions),
            )
        }
        assert codename in known, (model_admin, name)
        # To see is not to decide.
        assert not codename.startswith("view_"), (model_admin, name)
    assert len(DECISIONS) > 50


def test_every_decision_passes_its_actor_to_the_service() -> None:
    for model_admin, name in DECISIONS:
        if name in CLAIMING:
            # They are those of all queues.
            assert isinstance(model_admin, QueueAdmin)
            continue
        called = _services(model_admin, name)
        assert any("actor" in inspect.signature(service).parameters for service in called), (model_admin, name, called)
