"""How many statements an approval sends: work that is repeated shows here first."""

from typing import Any

import pytest

from catalog.models import ListingReview
from tests.admin.pages import address
from tests.admin.subjects import APPROVAL, review
from tests.callers import signed_in
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_approval_of_a_listing_sends_at_most_forty_statements(django_assert_max_num_queries: Any) -> None:
    client = signed_in(UserFactory(is_staff=True, is_superuser=True))
    page = address(ListingReview, "approve", review().pk)
    with django_assert_max_num_queries(40):
        assert client.post(page, APPROVAL).status_code == 302
