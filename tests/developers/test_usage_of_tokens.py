"""Calls of tokens: drawn for their owners and admins; names that a caller makes up never grow the table."""

from collections.abc import Callable

import pytest
from django.test import RequestFactory
from django.utils import timezone
from rest_framework.test import APIClient

from developers.authentication import principal_of_bearer
from developers.models import AccessToken, ApiUsage
from developers.services.credentials import issue_mcp_token
from developers.usage import rows
from developers.usage.buffer import usage
from developers.usage.middleware import call_of
from developers.usage.rows import CallKey
from developers.usage.selectors import usage_of_app, usage_of_credentials
from marketplace.core.scopes import Scope
from tests.admin.pages import address, text_of
from tests.callers import personal_token, signed_in
from tests.factories import AppFactory, UserFactory

from .cases import in_days

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("midday"), pytest.mark.database_full]


@pytest.fixture
def token(db: None) -> AccessToken:
    return personal_token(UserFactory(), frozenset({Scope.ACCOUNT_READ}))[0]


def test_owner_and_admin_see_the_calls_of_personal_tokens_and_nobody_elses(token: AccessToken) -> None:
    call = CallKey(timezone.now().date(), "personal", None, token.pk, "GET wallet", "account:read", 200)
    rows.add_to_rows({call: 37})
    text = text_of(signed_in(token.user).get("/dashboard/tokens"))
    assert "GET wallet 37" in text
    assert f"laptop (…{token.hint}) 37" in text
    assert "GET wallet" not in text_of(signed_in(UserFactory()).get("/dashboard/tokens"))
    page = signed_in(UserFactory(is_staff=True, is_superuser=True)).get(address(AccessToken, "change", token.pk))
    assert "GET wallet 37" in text_of(page)
    assert page.content.count(b'<rect class="chart-') == 1


def test_mcp_token_made_by_hand_is_counted_by_itself_and_drawn_with_its_app() -> None:
    app = AppFactory(granted_scopes="catalog:read")
    token, secret = issue_mcp_token(app=app, name="desk", expires_at=in_days(1), actor=app.user)
    request = RequestFactory().get("/mcp")
    request.auth = principal_of_bearer(f"Bearer {secret}")  # type: ignore[attr-defined]  # as DRF leaves it
    call = call_of(request, 200)
    assert call is not None
    assert (call.kind, call.credential_id, call.app_id) == ("mcp", token.pk, app.pk)
    rows.add_to_rows({call: 3})
    assert list(usage_of_app(app, [token]).callers) == [f"desk (…{token.hint})"]
    assert usage_of_credentials([token]).total.done == 3
    assert f"desk (…{token.hint}) 3" in text_of(signed_in(token.user).get(f"/dashboard/apps/{app.pk}"))


def test_paths_and_methods_that_a_caller_makes_up_add_no_rows_of_their_own(key_client: Callable[..., APIClient]) -> None:
    client = key_client()
    for number in range(3):
        client.get(f"/api/v1/made-up-{number}")
        client.get(f"/api/v1/assets/made-up-{number}")
        client.get(f"/api/v1/assets?page={number + 1}")
        client.generic(f"MADE{number}", "/api/v1/wallet")
        client.generic(f"MADE{number}", f"/api/v1/made-up-{number}")
        client.put(f"/api/v1/assets/made-up-{number}")
    usage.flush()
    operations = set(ApiUsage.objects.values_list("operation", flat=True))
    assert operations <= {"GET unknown", "OTHER unknown", "GET asset", "GET assets", "OTHER wallet", "PUT asset"}
    assert ApiUsage.objects.count() <= 6
