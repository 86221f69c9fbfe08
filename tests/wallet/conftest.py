"""Fixtures of staff who use the wallet's admin."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from tests.callers import signed_in
from tests.factories import UserFactory


@pytest.fixture
def staff() -> Callable[..., Client]:
    """Make a staff user's browser: `staff("refund_order")`."""

    def make(*codenames: str) -> Client:
        user = UserFactory(is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        return signed_in(user)

    return make
