"""Tests of what staff change about accounts, as services: the admin's forms are tried in tests/admin."""

from functools import partial

import pytest

from marketplace.accounts import services
from marketplace.accounts.models import Tier
from marketplace.core.errors import InvalidInput
from marketplace.core.models import AuditEntry
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CHANGES = {
    "set_tier": partial(services.set_tier, tier=Tier.PRO),
    "deactivate": services.deactivate_user,
    "reactivate": services.reactivate_user,
    "set_staff": partial(services.set_staff, groups=[]),
    "remove_staff": services.remove_staff,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_change_of_an_account_without_a_reason_is_refused(change: partial[object]) -> None:
    with pytest.raises(InvalidInput):
        change(user=UserFactory(is_staff=True), reason="  ", actor=UserFactory(is_superuser=True))
    assert not AuditEntry.objects.exists()
