"""Staff who use the wallet's admin, and the reconciliation after a test."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from tests.callers import signed_in
from tests.factories import UserFactory
from wallet.reconciliation import differences
from wallet.services.digests import digest_ledger


@pytest.fixture
def staff() -> Callable[..., Client]:
    """Make a staff user's browser: `staff("refund_order")`."""

    def make(*codenames: str) -> Client:
        user = UserFactory(is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        return signed_in(user)

    return make


@pytest.fixture
def books_agree() -> Iterator[None]:
    """Reconcile the ledger after a test."""
    yield
    assert list(differences()) == []


@pytest.fixture
def digested_books_agree(books_agree: None) -> Iterator[None]:
    """Reconcile the ledger after a test, with the digests of all that happened."""
    yield
    list(digest_ledger(until=timezone.now()))
