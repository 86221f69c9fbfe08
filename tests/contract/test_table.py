"""The table is complete: no operation of the service is missing from it, and it names none that is not there."""

from django.urls import resolve

from developers.checks import api_views
from marketplace.core.access import BEARER_KINDS, KEY_KINDS
from marketplace.core.errors import all_problems
from vendors.api.views import TusViews

from . import events
from .calls import API
from .scenes import SCENES
from .shapes import Operation
from .table import BY_NAME, GUARDED, OPERATIONS

ENDPOINTS_OF_THE_SPECIFICATION = 21
SCOPES = {
    "GET /assets/{id}/manifest": "catalog:read",
    "GET /library": "library:read",
    "POST /library/download/{id}": "library:download",
    "GET /library/{id}/versions": "library:read",
    "GET /library/{id}/certificate": "library:read",
    "GET /library/{id}/certificate.pdf": "library:read",
    "GET /library/{id}/credential": "library:read",
    "GET /wallet": "account:read",
    "PATCH /wallet": "wallet:spend",
    "GET /wallet/transactions": "account:read",
    "GET /orders": "account:read",
    "GET /orders/{order_id}": "account:read",
    "GET /orders/{order_id}/receipt": "account:read",
    "GET /orders/{order_id}/receipt.pdf": "account:read",
    "POST /orders/{order_id}/refund-requests": "wallet:spend",
    "GET /orders/{order_id}/refund-requests": "account:read",
    "GET /orders/{order_id}/evidence": "account:read",
    "GET /orders/{order_id}/invoice": "account:read",
    "GET /orders/{order_id}/invoice.pdf": "account:read",
    "GET /orders/{order_id}/credit-note.pdf": "account:read",
    "GET /account/billing": "account:read",
    "PATCH /account/billing": "wallet:spend",
    "GET /me": None,
    "GET /events": None,
    **{operation.name: None for operation in events.WEBHOOKS},
    "POST /wallet/quote": "wallet:spend",
    "POST /wallet/top-ups": "wallet:fund",
    "GET /wallet/top-ups/{top_up_id}": "wallet:fund",
    "GET /approvals/{approval_id}": "wallet:spend",
    "POST /wallet/spend": "wallet:spend",
    "POST /appeals": "vendor:manage",
    "GET /appeals": "vendor:manage",
    "GET /appeals/{appeal_id}": "vendor:manage",
}


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


def test_operations_of_the_table_have_the_listed_scopes() -> None:
    assert {entry.name: entry.scope for entry in GUARDED if not entry.path.startswith("/vendor")} == SCOPES
    assert {entry.scope for entry in GUARDED if entry.path.startswith("/vendor")} == {"vendor:manage"}


def test_declared_access_of_an_operation_is_the_auth_column_of_the_table() -> None:
    for operation in OPERATIONS:
        view, _, action = view_of(operation)
        access = view.access[action]  # type: ignore[attr-defined]  # every API view has it
        kinds = (KEY_KINDS if operation.auth.key else frozenset()) | (BEARER_KINDS if operation.auth.bearer else frozenset())
        assert (access.scope, access.kinds) == (operation.scope, kinds), operation.name


def test_every_scene_and_problem_code_of_the_table_exists() -> None:
    assert {operation.scene for operation in OPERATIONS} == set(SCENES)
    assert set().union(*(operation.refusals for operation in OPERATIONS)) <= set(all_problems())
