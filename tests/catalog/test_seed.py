"""The made-up catalog of benchmarks and tests."""

import pytest

from benchmarks.seeding.fill import fill
from marketplace.accounts.models import User

pytestmark = pytest.mark.django_db


def test_nobody_signs_in_as_a_made_up_vendor() -> None:
    fill(listings=1, seed=1)
    vendor = User.objects.get()
    assert (vendor.is_active, vendor.has_usable_password()) == (False, False)
