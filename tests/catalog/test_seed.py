"""The made-up catalog of benchmarks and tests."""

import pytest

from benchmarks.seeding.fill import fill
from marketplace.accounts.models import User

pytestmark = pytest.mark.django_db


def test_seeded_vendor_is_inactive_and_has_no_password() -> None:
    fill(listings=1, seed=1)
    vendor = User.objects.get()
    assert (vendor.is_active, vendor.has_usable_password()) == (False, False)
