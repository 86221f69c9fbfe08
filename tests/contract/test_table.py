"""The table is complete: no operation of the service is missing from it, and it names none that is not there."""

from django.urls import resolve

from developers.checks import api_views
from marketplace.core.access import BEARER_KINDS, KEY_KINDS
from marketplace.core.errors import all_problems
from vendors.api.views import TusViews

from .calls import API
from .scenes import SCENES
from .shapes import Operation
from .table import BY_NAME, OPERATIONS

ENDPOINTS_OF_THE_SPECIFICATION = 21


def view_of(operation: Operation) -> tuple[type, str, str]:
    """Return the viewset, the method and the action behind an operation."""
    found = resolve(API + operation.path.replace("{", "").replace("}", "")).func
    method = operation.method.lower()
    return found.cls, method, found.actions[method]  # type: ignore[attr-defined]  # set by ViewSetMixin.as_view


def test_every_operation_of_the_url_configuration_is_in_the_table() -> None:
    # HEAD comes with GET.
    there = {(view, method, action) for view, actions in api_views() for method, action in actions.items() if method != "head"}
    # The tus protocol is not in the document: `tests/vendors/test_uploads.py`.
    there = {entry for entry in there if entry[0] is not TusViews}
    assert {view_of(operation) for operation in OPERATIONS} == there


def test_operation_table_has_each_endpoint_of_the_specification_once() -> None:
    assert len(BY_NAME) == len(OPERATIONS)
    assert len([operation for operation in OPERATIONS if not operation.added]) == ENDPOINTS_OF_THE_SPECIFICATION


def test_declared_access_of_an_operation_is_the_auth_column_of_the_table() -> None:
    for operation in OPERATIONS:
        view, _, action = view_of(operation)
        access = view.access[action]  # type: ignore[attr-defined]  # every API view has it
        kinds = (KEY_KINDS if operation.auth.key else frozenset()) | (BEARER_KINDS if operation.auth.bearer else frozenset())
        assert (access.scope, access.kinds) == (operation.scope, kinds), operation.name


def test_every_scene_and_problem_code_of_the_table_exists() -> None:
    assert {operation.scene for operation in OPERATIONS} == set(SCENES)
    assert set().union(*(operation.refusals for operation in OPERATIONS)) <= set(all_problems())
