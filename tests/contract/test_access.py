"""Who may sell; which credential opens an operation is in `tests/developers/test_matrix.py`, whose things it opens in `test_unknown.py`."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from tests.factories import UserFactory
from tests.vendors.cases import make_vendor
from vendors.models import VendorStatus

from .calls import call, refused, rows
from .scenes import Scene
from .shapes import Operation
from .table import GUARDED

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "operation", [entry for entry in GUARDED if "vendor_not_approved" in entry.refusals], ids=lambda operation: operation.name
)
def test_user_who_is_no_approved_vendor_is_refused(operation: Operation, scene: Scene, bearer_client: Callable[..., APIClient]) -> None:
    callers = {status: make_vendor(status).user for status in (VendorStatus.PENDING, VendorStatus.SUSPENDED)} | {None: UserFactory()}
    for status, user in callers.items():
        caller = bearer_client(user)
        before = rows()
        assert refused(call(caller, operation, scene), 403, "vendor_not_approved", operation)["vendorStatus"] == status
        assert rows() == before
